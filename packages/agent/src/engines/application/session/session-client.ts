import type { ApplicationClientConfig } from '@rushhour/protocol';
import { compareMessages } from '../http/compare-http-messages.ts';
import type { HttpExchange } from '../http/http-exchanges.ts';
import { methodOf } from '../http/http-message.ts';
import { readMessage } from '../http/read-http-message.ts';
import type { ApplicationMeters } from '../meters.ts';
import type { Round } from '../round.ts';
import type { ScriptSession } from '../script.ts';
import { pauseOf } from '../timing.ts';
import type { Channel } from './channel.ts';
import type { MismatchPolicy } from './mismatch-policy.ts';
import { receiveStep } from './receive-step.ts';

export interface SessionClientDeps {
  readonly config: ApplicationClientConfig;
  readonly round: Round;
  /** Position of the session in the round. */
  readonly position: number;
  readonly mismatchPolicy: MismatchPolicy;
  readonly meters: ApplicationMeters;
}

const closeGraceMs = 1000;

/** Replays the client side of one session. */
export interface SessionClient {
  readonly isOver: boolean;
  readonly hasFailed: boolean;
  send(step: number): void;
  receive(step: number): Promise<void>;
  /** Called after the last step. */
  end(): Promise<void>;
  /** Called when the run ends. */
  abandon(): void;
}

/** Sends steps and counts how the session ends. Subclasses receive and compare. */
export abstract class BaseSessionClient implements SessionClient {
  protected readonly deps: SessionClientDeps;
  protected readonly channel: Channel;
  protected readonly session: ScriptSession;
  protected sentAt = 0;
  hasFailed = false;
  isOver = false;

  constructor(channel: Channel, deps: SessionClientDeps) {
    this.channel = channel;
    this.deps = deps;
    this.session = deps.round.script.sessions[deps.position] as ScriptSession;
    if (channel.failure !== undefined) this.fail(channel.failure);
  }

  abstract receive(step: number): Promise<void>;
  abstract end(): Promise<void>;

  send(step: number): void {
    const bytes = this.deps.round.bytesToSend(this.deps.position, step);
    this.channel.send(bytes);
    this.deps.meters.txBytes.add(bytes.length);
    this.sentAt = performance.now();
  }

  abandon(): void {
    this.isOver = true;
    this.channel.reset();
  }

  /** Timeout of a step, plus the recorded pause. */
  protected timeoutOf(step: number): number {
    const { timeoutMs, leastGapMs } = this.deps.round.script.play;
    return timeoutMs + pauseOf(this.session.speed, this.session.steps[step]?.gapMs ?? 0, leastGapMs);
  }

  protected conclude(): void {
    this.isOver = true;
    if (this.hasFailed) this.deps.meters.ko.add(1);
    else this.deps.meters.ok.add(1);
  }

  protected fail(kind: string): void {
    this.hasFailed = true;
    this.deps.meters.fail(kind);
    this.conclude();
    this.channel.reset();
  }
}

/** Receives steps of known length and compares them byte by byte. */
export class ExactSessionClient extends BaseSessionClient {
  override async receive(step: number): Promise<void> {
    const { round, position, config, mismatchPolicy, meters } = this.deps;
    const options = { round, session: position, step, match: config.match, timeoutMs: this.timeoutOf(step) };
    const { bytes, wait, fault } = await receiveStep(this.channel, options);
    meters.rxBytes.add(bytes.length);
    if (this.isOver) return;
    if (fault === undefined) {
      meters.exchanges.add(1);
      if (this.sentAt > 0) meters.exchange.record((performance.now() - this.sentAt) * 1000);
      this.sentAt = 0;
      return;
    }
    const continues = wait === 'arrived' || bytes.length > 0 ? mismatchPolicy.apply(this.session, step, fault) : true;
    this.hasFailed = true;
    // An exchange that times out counts with the time it waited.
    if (wait === 'timeout' && this.sentAt > 0) meters.exchange.record((performance.now() - this.sentAt) * 1000);
    if (wait !== 'arrived') this.fail(wait === 'timeout' ? 'timeout' : (this.channel.failure ?? 'closed'));
    else if (!continues) this.fail('mismatch');
  }

  override async end(): Promise<void> {
    const { mismatchPolicy } = this.deps;
    this.channel.close();
    const wait = this.session.protocol === 'udp' ? 'ended' : await this.channel.wait(1, closeGraceMs);
    if (this.isOver) return;
    if (wait === 'arrived') {
      const text = `is followed by ${this.channel.length} unexpected bytes`;
      mismatchPolicy.apply(this.session, this.session.steps.length - 1, { kind: 'modified', at: 0, text });
      this.hasFailed = true;
    }
    this.conclude();
  }
}

/** Accepts responses that are equivalent to the recorded ones, even when rewritten by a proxy. */
export class HttpSessionClient extends BaseSessionClient {
  readonly #exchanges: readonly HttpExchange[];

  constructor(channel: Channel, deps: SessionClientDeps, exchanges: readonly HttpExchange[]) {
    super(channel, deps);
    this.#exchanges = exchanges;
  }

  override async receive(step: number): Promise<void> {
    for (const exchange of this.#exchanges) {
      if (this.isOver) return;
      if (exchange.response.step === step) await this.#read(exchange, step);
    }
  }

  async #read({ request, response }: HttpExchange, step: number): Promise<void> {
    const { meters, mismatchPolicy } = this.deps;
    const options = { kind: 'response', method: methodOf(request.message), timeoutMs: this.timeoutOf(step) } as const;
    const read = await readMessage(this.channel, options);
    if (this.isOver) return;
    if ('problem' in read) {
      this.hasFailed = true;
      if (read.problem === 'bad')
        mismatchPolicy.apply(this.session, step, { kind: 'modified', text: read.text, at: 0 });
      this.fail(read.problem === 'ended' ? (this.channel.failure ?? 'closed') : read.problem);
      return;
    }
    meters.rxBytes.add(read.message.length);
    const fault = compareMessages(response.message, read.message, 'response');
    if (fault === undefined) {
      meters.exchanges.add(1);
      meters.exchange.record((performance.now() - this.sentAt) * 1000);
      return;
    }
    this.hasFailed = true;
    if (!mismatchPolicy.apply(this.session, step, fault)) this.fail('mismatch');
  }

  override async end(): Promise<void> {
    this.channel.close();
    this.conclude();
  }
}
