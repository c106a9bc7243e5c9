import type { ApplicationClientConfig } from '@rushhour/protocol';
import type { EngineContext, LoadChange, LoadChangeable, Pausable, PreparedEngine } from '../../engine.ts';
import { prepareSources, type SourcePool } from '../../net/addresses/source-addresses.ts';
import { ClientLife } from '../../net/load/client-lifecycle.ts';
import type { Transport } from '../../net/transport/transport.ts';
import { Company } from './company.ts';
import { Referee } from './referee.ts';
import { loadScript, type Script } from './script.ts';
import { createApplicationTransport } from './stream-channel.ts';

type Context = EngineContext<ApplicationClientConfig>;

const drainMs = 1000;

/** Plays the clients of all applications, each with its users. */
class ApplicationClient implements PreparedEngine, Pausable, LoadChangeable {
  readonly #context: Context;
  readonly #sources: SourcePool;
  readonly #transport: Transport;
  readonly #referee: Referee;
  readonly #companies: readonly Company[];
  readonly #life: ClientLife;
  readonly #halt = new AbortController();
  readonly #failed = Promise.withResolvers<never>();

  constructor(context: Context, sources: SourcePool, scripts: readonly Script[]) {
    const { config, samples, signal, note } = context;
    this.#context = context;
    this.#sources = sources;
    this.#referee = new Referee(context);
    this.#failed.promise.catch(() => {});
    this.#transport = createApplicationTransport({ path: config.dataPath, note });
    const deps = {
      ...{ context, sources, transport: this.#transport, referee: this.#referee },
      signal: this.#halt.signal,
      onSettled: () => this.#life.settle(),
      onError: this.#failed.reject,
    };
    this.#companies = scripts.map((script) => new Company(script, deps));
    this.#life = new ClientLife({
      ...{ engine: 'application', samples, signal, drainMs },
      drivers: this.#companies.map(({ driver }) => driver),
      sweepMs: 100,
      sweep: () => {},
      isDone: () => this.#companies.every(({ isDone }) => isDone),
      isIdle: () => this.#companies.every(({ active }) => active === 0),
      // Rounds under way may end in the time that is left; then they are cut, which is no failure.
      retire: () => {},
    });
  }

  async start(): Promise<void> {
    const played = this.#life.run(() => {
      for (const company of this.#companies) company.start();
      this.#life.settle();
    });
    await Promise.race([played, this.#referee.stopped, this.#failed.promise]);
  }

  pause(): void {
    this.#life.pause();
  }

  resume(): void {
    this.#life.resume();
  }

  changeLoad({ sessionsPerSecond }: LoadChange): { readonly rejected?: string } {
    if (sessionsPerSecond === undefined) return { rejected: 'application has a rate of sessions only' };
    const before = this.#companies.map(({ sessionRate }) => sessionRate);
    const all = before.reduce((sum, rate) => sum + rate, 0);
    if (all === 0) return { rejected: 'this run has no rate of sessions' };
    for (const [index, company] of this.#companies.entries()) {
      company.changeRate((sessionsPerSecond * (before[index] ?? 0)) / all);
    }
    return {};
  }

  async close(): Promise<void> {
    this.#halt.abort();
    this.#life.close();
    await this.#transport.close();
    await this.#sources.close();
    for (const company of this.#companies) company.tellEnd(this.#context.note);
  }
}

export const prepareApplicationClient = async (
  context: Context,
): Promise<PreparedEngine & Pausable & LoadChangeable> => {
  const scripts = await Promise.all(
    context.config.applications.map((play, index) => loadScript(play, index, context.note)),
  );
  for (const { play, sessions } of scripts) {
    const sealed = sessions.filter(({ appProtocol }) => appProtocol === 'tls' || appProtocol === 'quic').length;
    if (sealed === 0) continue;
    context.note(
      `${play.name}: ${sealed} encrypted sessions are played as they were recorded; a device that decrypts breaks them`,
    );
  }
  return new ApplicationClient(context, await prepareSources(context.config.sources, context), scripts);
};
