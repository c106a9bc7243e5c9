import type { DnsClientConfig, Histogram } from '@rushhour/protocol';
import type { Counter, Samples } from '../../engine.ts';
import { countError } from '../../net/error-kind.ts';
import type { Channel, ChannelEvents } from './channel.ts';
import { rcodeName, readAnswerHead } from './message.ts';
import { isAnswerTo, type Questions } from './questions.ts';

interface Pending {
  readonly place: number;
  readonly intended: number;
  readonly message: Buffer;
  sentAt: number;
  retriesLeft: number;
}

/** One channel with the queries under way on it. */
export class Lane implements ChannelEvents {
  /** Set while the client is prepared, before the first query. */
  channel: Channel | undefined;
  readonly pending = new Map<number, Pending>();
  readonly #samples: Samples;
  readonly #config: DnsClientConfig;
  readonly #onFree: (place: number, now: number) => void;
  readonly #queries: Counter;
  readonly #answers: Counter;
  readonly #latency: Histogram;
  readonly #service: Histogram;
  #nextToken = Math.floor(Math.random() * 65_536);

  constructor(samples: Samples, config: DnsClientConfig, onFree: (place: number, now: number) => void) {
    this.#samples = samples;
    this.#config = config;
    this.#onFree = onFree;
    this.#queries = samples.counter('dns.queries');
    this.#answers = samples.counter('dns.answers');
    this.#latency = samples.histogram('dns.latency');
    this.#service = samples.histogram('dns.service');
  }

  ask(place: number, questions: Questions, times: { intended: number; now: number }): void {
    let token = this.#nextToken;
    while (this.pending.has(token)) token = (token + 1) % 65_536;
    this.#nextToken = (token + 1) % 65_536;
    const message = questions.next(token);
    const { intended, now } = times;
    this.pending.set(token, { place, intended, message, sentAt: now, retriesLeft: this.#config.retries });
    this.#send(message, token);
  }

  onAnswer(token: number, message: Buffer): void {
    const pending = this.pending.get(token);
    const head = readAnswerHead(message);
    if (pending === undefined) {
      this.#samples.counter('dns.late').add(1);
      return;
    }
    if (head === undefined || !head.isResponse || !isAnswerTo(pending.message, message)) {
      this.#samples.counter('dns.mismatched').add(1);
      return;
    }
    const now = performance.now();
    this.pending.delete(token);
    this.#answers.add(1);
    this.#samples.counter('dns.rxBytes').add(message.length);
    this.#samples.counter(`dns.rcode.${rcodeName(head.rcode)}`).add(1);
    if (head.isTruncated) this.#samples.counter('dns.truncated').add(1);
    this.#latency.record((now - pending.intended) * 1000);
    this.#service.record((now - pending.sentAt) * 1000);
    this.#onFree(pending.place, now);
  }

  onFail(token: number, code: string): void {
    const pending = this.pending.get(token);
    if (pending === undefined) return;
    this.pending.delete(token);
    countError(this.#samples, 'dns', code);
    this.#onFree(pending.place, performance.now());
  }

  onError(code: string): void {
    countError(this.#samples, 'dns', code);
  }

  onConnect(ms: number): void {
    this.#samples.counter('dns.connections').add(1);
    this.#samples.histogram('dns.connect').record(ms * 1000);
  }

  /** Pending queries stand in the order in which they were sent last. */
  sweep(now: number): void {
    for (const [token, pending] of this.pending) {
      if (now - pending.sentAt <= this.#config.timeoutMs) return;
      this.pending.delete(token);
      if (pending.retriesLeft > 0) {
        pending.retriesLeft--;
        pending.sentAt = now;
        this.pending.set(token, pending);
        this.#samples.counter('dns.retries').add(1);
        this.#send(pending.message, token);
      } else {
        this.channel?.forget(token);
        this.#samples.counter('dns.timeouts').add(1);
        this.#onFree(pending.place, now);
      }
    }
  }

  #send(message: Buffer, token: number): void {
    this.#queries.add(1);
    this.#samples.counter('dns.txBytes').add(message.length);
    this.channel?.send(message, token);
  }
}
