import type { ApplicationClientConfig } from '@rushhour/protocol';
import type { Route } from '../../../net/transport/transport.ts';
import { exchangesOf } from '../http/http-exchanges.ts';
import type { ApplicationMeters } from '../meters.ts';
import type { Round } from '../round.ts';
import type { Action, ScriptSession } from '../script.ts';
import { pause, pauseOf, type Throttle } from '../timing.ts';
import { DatagramChannel } from './datagram-channel.ts';
import type { MismatchPolicy } from './mismatch-policy.ts';
import { ExactSessionClient, HttpSessionClient, type SessionClient, type SessionClientDeps } from './session-client.ts';
import type { SessionTransports } from './session-transports.ts';
import { StreamChannel } from './stream-channel.ts';

interface UserSessionReplayDeps {
  readonly config: ApplicationClientConfig;
  readonly transports: SessionTransports;
  readonly mismatchPolicy: MismatchPolicy;
  readonly meters: ApplicationMeters;
  readonly signal: AbortSignal;
  /** Destination and source of a session. */
  readonly routeOf: (session: ScriptSession) => Route;
  readonly throttleOf: (session: ScriptSession) => Throttle | undefined;
}

/** Replays all sessions of a round for one user, in recorded order. */
export class UserSessionReplay {
  readonly #round: Round;
  readonly #deps: UserSessionReplayDeps;
  readonly #clients = new Map<number, SessionClient>();

  constructor(round: Round, deps: UserSessionReplayDeps) {
    this.#round = round;
    this.#deps = deps;
  }

  /** Resolves to false when a session failed. */
  async play(): Promise<boolean> {
    const { signal } = this.#deps;
    const stop = () => this.#abandon();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (const action of this.#round.script.timeline) {
        if (signal.aborted) break;
        await this.#runAction(action);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#abandon();
    }
    return this.#clients.values().every(({ hasFailed }) => !hasFailed);
  }

  async #runAction(action: Action): Promise<void> {
    const { sessions, play } = this.#round.script;
    const { signal, throttleOf } = this.#deps;
    const session = sessions[action.session] as ScriptSession;
    const client = this.#clients.get(action.session);
    if (action.kind !== 'open' && (client === undefined || client.isOver)) return;
    const isAwaited =
      action.kind === 'end' || (action.kind === 'step' && session.steps[action.step]?.side === 'server');
    if (!isAwaited) await pause(pauseOf(session.speed, action.gapMs, play.leastGapMs), signal);
    if (action.kind === 'open') this.#clients.set(action.session, await this.#open(session, action.session));
    else if (action.kind === 'end') await client?.end();
    else {
      const bytes = session.steps[action.step]?.bytes.length ?? 0;
      await pause(throttleOf(session)?.take(bytes) ?? 0, signal);
      if (isAwaited) await client?.receive(action.step);
      else client?.send(action.step);
    }
  }

  async #open(session: ScriptSession, position: number): Promise<SessionClient> {
    const { config, transports, mismatchPolicy, meters, routeOf } = this.#deps;
    const route = routeOf(session);
    const channel =
      session.protocol === 'udp'
        ? await DatagramChannel.connect(route)
        : await StreamChannel.connect(transports.of(session), route, config.connectTimeoutMs);
    const deps: SessionClientDeps = { config, round: this.#round, position, mismatchPolicy, meters };
    const exchanges = config.match === 'http' ? exchangesOf(this.#round, position) : undefined;
    return exchanges === undefined
      ? new ExactSessionClient(channel, deps)
      : new HttpSessionClient(channel, deps, exchanges);
  }

  #abandon(): void {
    for (const client of this.#clients.values()) if (!client.isOver) client.abandon();
  }
}
