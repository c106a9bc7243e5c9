import type { AccessPlaneConfig, PlaneCommand } from '@rushhour/protocol';
import { AccessMeters } from '../../access/access-meters.ts';
import { firstProfiles, requireProfile } from '../../access/access-profiles.ts';
import { Bridge } from '../../access/bridge.ts';
import type { Commandable, EngineContext, PreparedEngine } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';

const reportMs = 1000;

/** A bridge that agrees with its neighbours on a spanning tree. */
class BridgeRun implements PreparedEngine, Commandable {
  readonly #context: EngineContext<AccessPlaneConfig>;
  readonly #meters: AccessMeters;
  readonly #bridge: Bridge;

  constructor(context: EngineContext<AccessPlaneConfig>) {
    const { config, samples, host } = context;
    this.#context = context;
    this.#meters = new AccessMeters(samples);
    const profile = requireProfile(firstProfiles(config.profiles), 'stp');
    this.#bridge = new Bridge(config.interfaces, host.isCaptured ?? false, profile);
  }

  async start(): Promise<void> {
    const timer = setInterval(() => this.#report(), reportMs);
    this.#bridge.start();
    try {
      await aborted(this.#context.signal);
    } finally {
      clearInterval(timer);
      this.#report();
    }
  }

  command({ action, values = [] }: PlaneCommand): { readonly rejected?: string } {
    if (action !== 'linkDown' && action !== 'linkUp') return { rejected: `a bridge has nothing to ${action}` };
    const { interfaces } = this.#bridge;
    const unknown = values.find((name) => !interfaces.includes(name));
    if (unknown !== undefined) return { rejected: `${unknown} is not an interface of this entry` };
    for (const name of values.length === 0 ? interfaces : values) this.#bridge.setPort(name, action === 'linkUp');
    return {};
  }

  async close(): Promise<void> {
    this.#bridge.close();
  }

  #report(): void {
    for (const row of this.#bridge.takeRows()) this.#context.putRow('ports', row);
    this.#meters.followBridge(this.#bridge.name, this.#bridge.tree);
  }
}

export const prepareBridge = (context: EngineContext<AccessPlaneConfig>): PreparedEngine => new BridgeRun(context);
