import type { ApplicationClientConfig } from '@rushhour/protocol';
import type { Channel } from './channel.ts';
import type { ApplicationMeters } from './meters.ts';
import { receiveStep } from './receive.ts';
import type { Referee } from './referee.ts';
import type { Round } from './round.ts';
import type { ScriptSession } from './script.ts';
import { pauseOf } from './timing.ts';

export interface ActorDeps {
  readonly config: ApplicationClientConfig;
  readonly round: Round;
  /** Position of the session in the round. */
  readonly position: number;
  readonly referee: Referee;
  readonly meters: ApplicationMeters;
}

const goodbyeMs = 1000;

/** Plays the client of one session. */
export interface Actor {
  readonly isOver: boolean;
  readonly hasFailed: boolean;
  send(step: number): void;
  receive(step: number): Promise<void>;
  /** All steps are done. */
  end(): Promise<void>;
  /** The run is over. */
  abandon(): void;
}

/** Sends steps as they are and takes steps of a known length. */
export class ExactActor implements Actor {
  readonly #deps: ActorDeps;
  readonly #channel: Channel;
  readonly #session: ScriptSession;
  #sentAt = 0;
  hasFailed = false;
  isOver = false;

  constructor(channel: Channel, deps: ActorDeps) {
    this.#channel = channel;
    this.#deps = deps;
    this.#session = deps.round.script.sessions[deps.position] as ScriptSession;
    if (channel.failure !== undefined) this.#fail(channel.failure);
  }

  send(step: number): void {
    const bytes = this.#deps.round.say(this.#deps.position, step);
    this.#channel.send(bytes);
    this.#deps.meters.txBytes.add(bytes.length);
    this.#sentAt = performance.now();
  }

  async receive(step: number): Promise<void> {
    const { round, position, config, referee, meters } = this.#deps;
    const { speed, steps } = this.#session;
    const { timeoutMs: leastMs, leastGapMs } = round.script.play;
    const timeoutMs = leastMs + pauseOf(speed, steps[step]?.gapMs ?? 0, leastGapMs);
    const wish = { round, session: position, step, match: config.match, timeoutMs };
    const { bytes, wait, fault } = await receiveStep(this.#channel, wish);
    meters.rxBytes.add(bytes.length);
    if (this.isOver) return;
    if (fault === undefined) {
      meters.exchanges.add(1);
      if (this.#sentAt > 0) meters.exchange.record((performance.now() - this.#sentAt) * 1000);
      this.#sentAt = 0;
      return;
    }
    const goesOn = wait === 'arrived' || bytes.length > 0 ? referee.judge(this.#session, step, fault) : true;
    this.hasFailed = true;
    if (wait !== 'arrived') this.#fail(wait === 'timeout' ? 'timeout' : (this.#channel.failure ?? 'closed'));
    else if (!goesOn) this.#fail('mismatch');
  }

  async end(): Promise<void> {
    const { referee, meters } = this.#deps;
    this.#channel.close();
    const wait = this.#session.protocol === 'udp' ? 'ended' : await this.#channel.wait(1, goodbyeMs);
    if (this.isOver) return;
    if (wait === 'arrived') {
      const text = `is followed by ${this.#channel.length} bytes that nobody sent`;
      referee.judge(this.#session, this.#session.steps.length - 1, { kind: 'modified', at: 0, text });
      this.hasFailed = true;
    }
    this.isOver = true;
    if (this.hasFailed) meters.ko.add(1);
    else meters.ok.add(1);
  }

  abandon(): void {
    this.isOver = true;
    this.#channel.reset();
  }

  #fail(kind: string): void {
    const { meters } = this.#deps;
    this.hasFailed = true;
    meters.fail(kind);
    meters.ko.add(1);
    this.isOver = true;
    this.#channel.reset();
  }
}
