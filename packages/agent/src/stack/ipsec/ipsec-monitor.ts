import type { ChildSa, IkeCause, IkeKeys, IkeSa } from '@rushhour/wire';
import type { IpsecLink } from './ipsec-link.ts';

/** What happens to the tunnels of a job, for its engine. */
export class IpsecMonitor {
  readonly counters = {
    ikeUp: 0,
    childUp: 0,
    opened: 0,
    rekeys: 0,
    moved: 0,
    dpdTimeouts: 0,
    replayErrors: 0,
    authErrors: 0,
    txBytes: 0,
    rxBytes: 0,
  };
  /** An IKE SA has its keys. */
  onKeys: (sa: IkeSa, keys: IkeKeys) => void = () => {};
  onSetup: (durationMs: number) => void = () => {};
  onFailed: (cause: IkeCause, link: IpsecLink | undefined) => void = () => {};
  onChildUp: (link: IpsecLink, child: ChildSa) => void = () => {};
  onChildDown: (link: IpsecLink, child: ChildSa) => void = () => {};
  /** Something happened to a tunnel, for the time line of the run. */
  onEvent: (sa: IkeSa, text: string) => void = () => {};

  /** Adds the errors of a child SA that is gone. */
  addErrors({ inbound: { counters } }: ChildSa): void {
    this.counters.replayErrors += counters.replays;
    this.counters.authErrors += counters.forged + counters.invalid;
  }
}
