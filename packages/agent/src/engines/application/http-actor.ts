import { type ActorDeps, SessionActor } from './actor.ts';
import type { Channel } from './channel.ts';
import type { HttpExchange } from './http-exchanges.ts';
import { methodOf } from './http-message.ts';
import { readMessage } from './http-reader.ts';
import { compareMessages } from './http-rules.ts';

/** Takes answers that say what was recorded, however a proxy writes them. */
export class HttpActor extends SessionActor {
  readonly #exchanges: readonly HttpExchange[];

  constructor(channel: Channel, deps: ActorDeps, exchanges: readonly HttpExchange[]) {
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
    const { meters, referee } = this.deps;
    const wish = { kind: 'response', method: methodOf(request.message), timeoutMs: this.timeoutOf(step) } as const;
    const read = await readMessage(this.channel, wish);
    if (this.isOver) return;
    if ('problem' in read) {
      this.hasFailed = true;
      if (read.problem === 'bad') referee.judge(this.session, step, { kind: 'modified', text: read.text, at: 0 });
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
    if (!referee.judge(this.session, step, fault)) this.fail('mismatch');
  }

  override async end(): Promise<void> {
    this.channel.close();
    this.conclude();
  }
}
