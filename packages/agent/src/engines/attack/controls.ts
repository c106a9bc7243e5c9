import { randomBytes } from 'node:crypto';
import type { AttackTarget, ControlObservation } from '@rushhour/protocol';
import type { AttackRoute, ClientContext, ProtocolDriver } from './driver.ts';

export interface ControlDeps {
  readonly context: ClientContext;
  readonly retries: number;
  readonly timeoutMs: number;
  driverOf(target: AttackTarget): ProtocolDriver;
  routeOf(target: AttackTarget, from: Origin, timeoutMs: number): AttackRoute;
  record(seen: ControlObservation): void;
}

/** Where attempts come from; the machine chooses what is left out. */
export interface Origin {
  readonly localAddress?: string;
}

type Reason = ControlObservation['reason'];

/** Harmless exchanges that prove, by an answer only our own server can give, that the path works. */
export class Controls {
  readonly #deps: ControlDeps;
  readonly #running = new Map<string, Promise<boolean>>();

  constructor(deps: ControlDeps) {
    this.#deps = deps;
  }

  /** True once a nonce came back proven. Those who ask the same at the same time share the answer. */
  check(target: AttackTarget, from: Origin, reason: Reason, retries = this.#deps.retries): Promise<boolean> {
    const key = `${target.host} ${target.port} ${from.localAddress}`;
    const running = this.#running.get(key);
    // One that began before a silence says nothing about what came after it.
    if (running !== undefined && reason !== 'silent-drop') return running;
    const check = this.#check(target, from, reason, retries).finally(() => {
      if (this.#running.get(key) === check) this.#running.delete(key);
    });
    this.#running.set(key, check);
    return check;
  }

  async #check(target: AttackTarget, from: Origin, reason: Reason, retries: number): Promise<boolean> {
    const { context, timeoutMs, driverOf, routeOf, record } = this.#deps;
    const startedMs = context.elapsedMs();
    let seen = { ip: '', isGood: false, detail: 'not tried' };
    for (let tries = 0; tries <= retries && !seen.isGood && !context.signal.aborted; tries++) {
      const nonce = randomBytes(16).toString('hex');
      seen = await driverOf(target).prove(nonce, routeOf(target, from, timeoutMs), context);
    }
    record({
      side: 'control',
      reason,
      service: target.service,
      target: `${target.host}:${target.port}`,
      ...seen,
      detail: seen.detail.slice(0, 500),
      startedMs,
      endedMs: context.elapsedMs(),
    });
    return seen.isGood;
  }
}
