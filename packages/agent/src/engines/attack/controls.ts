import { randomBytes } from 'node:crypto';
import type { AttackTarget, Attempt, ControlObservation } from '@rushhour/protocol';
import type { Dialer } from '../../net/transport/transport.ts';
import type { AttackRoute, ClientContext, ProofOutcome, ProtocolDriver } from './driver.ts';

export interface ControlDeps {
  readonly context: ClientContext;
  readonly retries: number;
  readonly timeoutMs: number;
  driverOf(target: AttackTarget): ProtocolDriver;
  routeOf(target: AttackTarget, from: Origin, timeoutMs: number): AttackRoute;
  record(seen: ControlObservation): void;
}

/** Source of attempts; the kernel chooses omitted parts. */
export interface Origin {
  readonly localAddress?: string;
  readonly via?: Dialer;
}

type Reason = ControlObservation['reason'];

export interface ControlOptions {
  readonly retries?: number | undefined;
  /** The attempt before it: the proof is addressed alike, and says whether that attempt has arrived. */
  readonly after?: Attempt | undefined;
}

/** Control exchanges that prove the path: only our own server can give the expected answer. */
export class Controls {
  readonly #deps: ControlDeps;
  readonly #running = new Map<string, Promise<ProofOutcome>>();

  constructor(deps: ControlDeps) {
    this.#deps = deps;
  }

  /** Good when the proof was received. Concurrent checks of the same path share one exchange. */
  check(target: AttackTarget, from: Origin, reason: Reason, options: ControlOptions = {}): Promise<ProofOutcome> {
    const key = `${target.host} ${target.port} ${from.localAddress}`;
    const running = this.#running.get(key);
    // A check started before the silence says nothing about the time after it.
    if (running !== undefined && reason !== 'silent-drop') return running;
    const check = this.#check(target, from, reason, options).finally(() => {
      if (this.#running.get(key) === check) this.#running.delete(key);
    });
    this.#running.set(key, check);
    return check;
  }

  async #check(
    target: AttackTarget,
    from: Origin,
    reason: Reason,
    { retries = this.#deps.retries, after }: ControlOptions,
  ): Promise<ProofOutcome> {
    const { context, timeoutMs, driverOf, routeOf, record } = this.#deps;
    const startedMs = context.elapsedMs();
    let seen: ProofOutcome = { ip: '', isGood: false, detail: 'not tried' };
    for (let tries = 0; tries <= retries && !seen.isGood && !context.signal.aborted; tries++) {
      const nonce = randomBytes(16).toString('hex');
      seen = await driverOf(target).prove(nonce, routeOf(target, from, timeoutMs), context, after);
    }
    record({
      side: 'control',
      reason,
      service: target.service,
      target: `${target.host}:${target.port}`,
      ...{ ip: seen.ip, isGood: seen.isGood },
      detail: seen.detail.slice(0, 500),
      startedMs,
      endedMs: context.elapsedMs(),
    });
    return seen;
  }
}
