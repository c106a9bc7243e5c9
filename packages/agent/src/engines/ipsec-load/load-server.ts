import type { IpsecLoadServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import type { HostNetwork } from '../../net/host-network.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { createKeyReport } from '../../stack/ipsec/key-report.ts';
import { LoadMeters } from './load-meters.ts';
import { LoadSessions } from './load-sessions.ts';

const sweepMs = 200;

/** Answers IKE handshakes and keeps the sessions until they are idle for too long. */
export class LoadServer implements PreparedEngine {
  readonly #context: EngineContext<IpsecLoadServerConfig>;
  readonly #meters: LoadMeters;
  readonly #sessions: LoadSessions;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: EngineContext<IpsecLoadServerConfig>, network: HostNetwork) {
    this.#context = context;
    const { config, samples } = context;
    const meters = new LoadMeters(samples);
    this.#meters = meters;
    this.#sessions = new LoadSessions({
      settings: config.settings,
      network,
      keys: createKeyReport(context),
      meters,
      accepts: () => this.#accepts(),
      onEstablished: (sa) => {
        meters.completed.add(1);
        meters.handshake.record((this.#sessions.now() - sa.startedMs) * 1000);
      },
      onClosed: (sa, cause) => {
        if (sa.establishedMs === 0) meters.onFailed(cause);
        else if (cause === 'deadPeer') meters.onError(cause);
      },
    });
    this.#sessions.start();
  }

  async start(): Promise<void> {
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
    await aborted(this.#context.signal);
    this.#sweep();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#sessions.close();
  }

  /** Half-open sessions take a place of the pool as well. */
  #accepts(): boolean {
    if (this.#sessions.endpoint.count < this.#context.config.poolCap) {
      this.#meters.started.add(1);
      return true;
    }
    this.#meters.onError('poolFull');
    return false;
  }

  #sweep(): void {
    const { endpoint, established } = this.#sessions;
    const { idleRecycleMs } = this.#context.config;
    const oldest = this.#sessions.now() - idleRecycleMs;
    const idle = idleRecycleMs === 0 ? [] : established.filter(({ heardMs }) => heardMs < oldest);
    for (const sa of idle) {
      this.#meters.recycled.add(1);
      endpoint.close(sa, true);
    }
    this.#meters.halfOpen.set(endpoint.halfOpenCount);
    this.#meters.poolUsed.set(established.length);
  }
}
