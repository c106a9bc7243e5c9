import type { ApplicationClientConfig } from '@rushhour/protocol';
import type { Route, Transport } from '../../net/transport/transport.ts';
import { type Actor, type ActorDeps, ExactActor } from './actor.ts';
import { DatagramChannel } from './datagram-channel.ts';
import { HttpActor } from './http-actor.ts';
import { exchangesOf } from './http-exchanges.ts';
import type { ApplicationMeters } from './meters.ts';
import type { Referee } from './referee.ts';
import type { Round } from './round.ts';
import type { Action, ScriptSession } from './script.ts';
import { StreamChannel } from './stream-channel.ts';
import { pause, pauseOf, type Throttle } from './timing.ts';

interface PerformanceDeps {
  readonly config: ApplicationClientConfig;
  readonly transport: Transport;
  readonly referee: Referee;
  readonly meters: ApplicationMeters;
  readonly signal: AbortSignal;
  /** Where a session goes, and where it comes from. */
  readonly routeOf: (session: ScriptSession) => Route;
  readonly throttleOf: (session: ScriptSession) => Throttle | undefined;
}

/** One user plays all sessions of a round, each thing in the order in which it was recorded. */
export class Performance {
  readonly #round: Round;
  readonly #deps: PerformanceDeps;
  readonly #actors = new Map<number, Actor>();

  constructor(round: Round, deps: PerformanceDeps) {
    this.#round = round;
    this.#deps = deps;
  }

  /** False when a session failed. */
  async play(): Promise<boolean> {
    const { signal } = this.#deps;
    const stop = () => this.#abandon();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (const action of this.#round.script.timeline) {
        if (signal.aborted) break;
        await this.#act(action);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#abandon();
    }
    return this.#actors.values().every(({ hasFailed }) => !hasFailed);
  }

  async #act(action: Action): Promise<void> {
    const { sessions, play } = this.#round.script;
    const { signal, throttleOf } = this.#deps;
    const session = sessions[action.session] as ScriptSession;
    const actor = this.#actors.get(action.session);
    if (action.kind !== 'open' && (actor === undefined || actor.isOver)) return;
    const isAwaited =
      action.kind === 'end' || (action.kind === 'step' && session.steps[action.step]?.side === 'server');
    if (!isAwaited) await pause(pauseOf(session.speed, action.gapMs, play.leastGapMs), signal);
    if (action.kind === 'open') this.#actors.set(action.session, await this.#open(session, action.session));
    else if (action.kind === 'end') await actor?.end();
    else {
      const bytes = session.steps[action.step]?.bytes.length ?? 0;
      await pause(throttleOf(session)?.take(bytes) ?? 0, signal);
      if (isAwaited) await actor?.receive(action.step);
      else actor?.send(action.step);
    }
  }

  async #open(session: ScriptSession, position: number): Promise<Actor> {
    const { config, transport, referee, meters, routeOf } = this.#deps;
    const route = routeOf(session);
    const channel =
      session.protocol === 'udp'
        ? await DatagramChannel.connect(route)
        : await StreamChannel.connect(transport, route, config.connectTimeoutMs);
    const deps: ActorDeps = { config, round: this.#round, position, referee, meters };
    const exchanges = config.match === 'http' ? exchangesOf(this.#round, position) : undefined;
    return exchanges === undefined ? new ExactActor(channel, deps) : new HttpActor(channel, deps, exchanges);
  }

  #abandon(): void {
    for (const actor of this.#actors.values()) if (!actor.isOver) actor.abandon();
  }
}
