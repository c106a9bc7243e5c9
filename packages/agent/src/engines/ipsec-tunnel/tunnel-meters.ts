import type { IkeCause } from '@rushhour/wire';
import type { Samples } from '../../engine.ts';
import type { IpsecTunnels } from '../../stack/ipsec/ipsec-tunnels.ts';
import type { TunnelProbes } from './tunnel-probes.ts';

const counted = {
  'ipsec-tunnel.opened': 'opened',
  'ipsec-tunnel.rekeys': 'rekeys',
  'ipsec-tunnel.moved': 'moved',
  'ipsec-tunnel.dpdTimeouts': 'dpdTimeouts',
  'ipsec-tunnel.txBytes': 'txBytes',
  'ipsec-tunnel.rxBytes': 'rxBytes',
} as const;

/** Metrics of the tunnels of a job. */
export class TunnelMeters {
  readonly setup;
  readonly #samples: Samples;
  readonly #ikeUp;
  readonly #childUp;

  constructor(samples: Samples) {
    this.#samples = samples;
    this.setup = samples.histogram('ipsec-tunnel.setup');
    this.#ikeUp = samples.gauge('ipsec-tunnel.ikeUp');
    this.#childUp = samples.gauge('ipsec-tunnel.childUp');
  }

  /** The name of a notification, or why this side gave up. */
  onFailed(cause: IkeCause): void {
    this.#samples.counter(`ipsec-tunnel.failed.${cause}`).add(1);
  }

  report({ monitor: { counters }, children }: IpsecTunnels, probes: TunnelProbes | undefined): void {
    this.#ikeUp.set(counters.ikeUp);
    this.#childUp.set(counters.childUp);
    for (const [name, member] of Object.entries(counted)) this.#raise(name, counters[member]);
    let { replayErrors, authErrors } = counters;
    for (const { child } of children) {
      const { replays, forged, invalid } = child.inbound.counters;
      replayErrors += replays;
      authErrors += forged + invalid;
    }
    this.#raise('ipsec-tunnel.replayErrors', replayErrors);
    this.#raise('ipsec-tunnel.authErrors', authErrors);
    if (probes !== undefined && probes.lost > 0) this.#raise('ipsec-tunnel.errors.timeout', probes.lost);
  }

  /** Brings a counter up to a value. */
  #raise(name: string, value: number): void {
    const counter = this.#samples.counter(name);
    counter.add(value - counter.value);
  }
}
