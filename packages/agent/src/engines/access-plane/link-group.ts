import type { AccessPlaneConfig, PlaneCommand } from '@rushhour/protocol';
import { AccessMeters } from '../../access/access-meters.ts';
import { firstProfiles, requireProfile } from '../../access/access-profiles.ts';
import { LagPort } from '../../access/lag-port.ts';
import type { Commandable, EngineContext, PreparedEngine } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { reportGroup } from './report-group.ts';

const reportMs = 1000;

/** A link aggregation group with nothing above it. */
class LinkGroupRun implements PreparedEngine, Commandable {
  readonly #context: EngineContext<AccessPlaneConfig>;
  readonly #meters: AccessMeters;
  readonly #port: LagPort;

  constructor(context: EngineContext<AccessPlaneConfig>) {
    const { config, samples, host } = context;
    this.#context = context;
    this.#meters = new AccessMeters(samples);
    const lag = requireProfile(firstProfiles(config.profiles), 'lag');
    this.#port = new LagPort(config.interfaces, host.isCaptured ?? false, lag);
    this.#port.open({ receive() {}, advance() {} });
  }

  async start(): Promise<void> {
    const timer = setInterval(() => this.#report(), reportMs);
    this.#port.start();
    try {
      await aborted(this.#context.signal);
    } finally {
      clearInterval(timer);
      this.#report();
    }
  }

  command({ action, values = [] }: PlaneCommand): { readonly rejected?: string } {
    if (action !== 'linkDown' && action !== 'linkUp') return { rejected: `a group of links has nothing to ${action}` };
    const { members } = this.#port;
    const unknown = values.find((name) => !members.includes(name));
    if (unknown !== undefined) return { rejected: `${unknown} is not an interface of this entry` };
    for (const name of values.length === 0 ? members : values) this.#port.setMember(name, action === 'linkUp');
    return {};
  }

  async close(): Promise<void> {
    this.#port.close();
  }

  #report(): void {
    reportGroup(this.#port, this.#context, this.#meters);
  }
}

export const prepareLinkGroup = (context: EngineContext<AccessPlaneConfig>): PreparedEngine =>
  new LinkGroupRun(context);
