import type { Channel } from './channel.ts';
import { compareMessages } from './compare-http-messages.ts';
import type { HttpExchange } from './http-exchanges.ts';
import { methodOf } from './http-message.ts';
import { readMessage } from './read-http-message.ts';
import { BaseSessionClient, type SessionClientDeps } from './session-client.ts';

/** Takes answers that say what was recorded, however a proxy writes them. */
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
