import type { AttackTarget, Attempt, ClientObservation } from '@rushhour/protocol';
import type { AttackRoute, ClientContext, ClientOutcome, ProtocolDriver } from './driver.ts';
import { noOutcome } from './driver.ts';
import type { Pace } from './pace.ts';
import { shapedRoute } from './transport/packet-shapes.ts';

interface BarePathDeps {
  readonly driver: ProtocolDriver;
  readonly target: AttackTarget;
  readonly route: AttackRoute;
  readonly context: ClientContext;
  readonly pace: Pace;
  record(seen: ClientObservation): void;
}

/** The path to the same server without the device under test. */
export class BarePath {
  readonly #deps: BarePathDeps;

  constructor(deps: BarePathDeps) {
    this.#deps = deps;
  }

  /** Sends each attempt of this service once and reports it apart from the test itself. */
  async send(attempts: readonly Attempt[], concurrency: number): Promise<void> {
    const own = attempts.filter(({ service }) => service === this.#deps.target.service);
    const waiting = own.values();
    const work = async () => {
      for (const attempt of waiting) {
        await this.#deps.pace.waitForNext();
        if (this.#deps.context.signal.aborted) return;
        await this.#try(attempt);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  }

  async #try(attempt: Attempt): Promise<void> {
    const { driver, route, context, target, record } = this.#deps;
    const startedMs = context.elapsedMs();
    const seen = await driver
      .attempt(attempt, shapedRoute(route, attempt.exchange), context)
      .catch((error: Error): ClientOutcome => ({ ...noOutcome, error: error.message.slice(0, 500) }));
    record({
      side: 'client',
      attempt: attempt.id,
      target: `${target.host}:${target.port}`,
      ...seen,
      startedMs,
      endedMs: context.elapsedMs(),
      isShunned: false,
      isBare: true,
    });
  }
}
