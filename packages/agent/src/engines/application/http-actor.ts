import type { Actor, ActorDeps } from './actor.ts';
import type { Channel } from './channel.ts';
import type { HttpExchange } from './http-exchanges.ts';
import { methodOf } from './http-message.ts';
import { readMessage } from './http-reader.ts';
import { compareMessages } from './http-rules.ts';
import type { ScriptSession } from './script.ts';
import { pauseOf } from './timing.ts';

/** Sends steps as they are and takes answers that say what was recorded, however a proxy writes them. */
export class HttpActor implements Actor {
  readonly #channel: Channel;
  readonly #deps: ActorDeps;
  readonly #exchanges: readonly HttpExchange[];
  readonly #session: ScriptSession;
  #sentAt = 0;
  hasFailed = false;
  isOver = false;

  constructor(channel: Channel, deps: ActorDeps, exchanges: readonly HttpExchange[]) {
    this.#channel = channel;
    this.#deps = deps;
    this.#exchanges = exchanges;
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
    for (const exchange of this.#exchanges) {
      if (this.isOver) return;
      if (exchange.response.step === step) await this.#read(exchange, step);
    }
  }

  async #read({ request, response }: HttpExchange, step: number): Promise<void> {
    const { round, meters, referee } = this.#deps;
    const { speed, steps } = this.#session;
    const { timeoutMs: leastMs, leastGapMs } = round.script.play;
    const timeoutMs = leastMs + pauseOf(speed, steps[step]?.gapMs ?? 0, leastGapMs);
    const read = await readMessage(this.#channel, { kind: 'response', method: methodOf(request.message), timeoutMs });
    if (this.isOver) return;
    if ('problem' in read) {
      this.hasFailed = true;
      if (read.problem === 'bad') referee.judge(this.#session, step, { kind: 'modified', text: read.text, at: 0 });
      this.#fail(read.problem === 'ended' ? (this.#channel.failure ?? 'closed') : read.problem);
      return;
    }
    meters.rxBytes.add(read.message.length);
    const fault = compareMessages(response.message, read.message, 'response');
    if (fault === undefined) {
      meters.exchanges.add(1);
      meters.exchange.record((performance.now() - this.#sentAt) * 1000);
      return;
    }
    this.hasFailed = true;
    if (!referee.judge(this.#session, step, fault)) this.#fail('mismatch');
  }

  async end(): Promise<void> {
    this.#channel.close();
    this.isOver = true;
    if (this.hasFailed) this.#deps.meters.ko.add(1);
    else this.#deps.meters.ok.add(1);
  }

  abandon(): void {
    this.isOver = true;
    this.#channel.reset();
  }

  #fail(kind: string): void {
    this.hasFailed = true;
    this.#deps.meters.fail(kind);
    this.#deps.meters.ko.add(1);
    this.isOver = true;
    this.#channel.reset();
  }
}
