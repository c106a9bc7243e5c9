import type { ApplicationClientConfig } from '@rushhour/protocol';
import type { EngineContext, LoadChange } from '../../engine.ts';
import { prepareSources, type SourcePool } from '../../net/addresses/source-addresses.ts';
import { ClientLifecycle } from '../../net/load/client-lifecycle.ts';
import { LoadDrivenClient } from '../load-driven-client.ts';
import { loadScript, type Script } from './script.ts';
import { MismatchPolicy } from './session/mismatch-policy.ts';
import { reportEncryption, SessionTransports } from './session/session-transports.ts';
import { UserPool } from './user-pool.ts';

type Context = EngineContext<ApplicationClientConfig>;

const drainMs = 1000;

/** Replays the client side of all applications with their users. */
class ApplicationClient extends LoadDrivenClient {
  readonly #context: Context;
  readonly #sources: SourcePool;
  readonly #transports: SessionTransports;
  readonly #mismatchPolicy: MismatchPolicy;
  readonly #pools: readonly UserPool[];
  readonly #halt = new AbortController();
  readonly #failed = Promise.withResolvers<never>();

  constructor(context: Context, sources: SourcePool, scripts: readonly Script[]) {
    super();
    const { samples, signal } = context;
    this.#context = context;
    this.#sources = sources;
    this.#mismatchPolicy = new MismatchPolicy(context);
    this.#failed.promise.catch(() => {});
    this.#transports = new SessionTransports(context);
    const deps = {
      ...{ context, sources, transports: this.#transports, mismatchPolicy: this.#mismatchPolicy },
      signal: this.#halt.signal,
      onSettled: () => this.lifecycle.settle(),
      onError: this.#failed.reject,
    };
    this.#pools = scripts.map((script) => new UserPool(script, deps));
    this.lifecycle = new ClientLifecycle({
      ...{ engine: 'application', samples, signal, drainMs },
      drivers: this.#pools.map(({ driver }) => driver),
      loadDrivers: this.#pools.map(({ driver }) => driver),
      sweepMs: 100,
      sweep: () => {},
      isDone: () => this.#pools.every(({ isDone }) => isDone),
      isIdle: () => this.#pools.every(({ active }) => active === 0),
      // Rounds in progress may finish within the drain time; cutting them off afterwards is not a failure.
      retire: () => {},
    });
  }

  async start(): Promise<void> {
    const played = this.lifecycle.run(() => {
      for (const pool of this.#pools) pool.start();
      this.lifecycle.settle();
    });
    await Promise.race([played, this.#mismatchPolicy.stopped, this.#failed.promise]);
  }

  changeLoad({ sessionsPerSecond }: LoadChange): { readonly rejected?: string } {
    if (sessionsPerSecond === undefined) return { rejected: 'application has a rate of sessions only' };
    const before = this.#pools.map(({ sessionRate }) => sessionRate);
    const all = before.reduce((sum, rate) => sum + rate, 0);
    if (all === 0) return { rejected: 'this run has no rate of sessions' };
    for (const [index, pool] of this.#pools.entries()) {
      pool.changeRate((sessionsPerSecond * (before[index] ?? 0)) / all);
    }
    return {};
  }

  protected override async release(): Promise<void> {
    this.#halt.abort();
    await this.#transports.close();
    await this.#sources.close();
    for (const pool of this.#pools) pool.reportEnd(this.#context.note);
  }
}

export const prepareApplicationClient = async (context: Context): Promise<LoadDrivenClient> => {
  const scripts = await Promise.all(
    context.config.applications.map((play, index) => loadScript(play, index, context.note)),
  );
  reportEncryption(scripts, context);
  return new ApplicationClient(context, await prepareSources(context.config.sources, context), scripts);
};
