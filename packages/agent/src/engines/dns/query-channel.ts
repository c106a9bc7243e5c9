import type { DnsClientConfig, Histogram } from '@rushhour/protocol';
import type { Counter, Samples } from '../../engine.ts';
import { countError } from '../../net/metrics/count-error.ts';
import type { Chunk } from '../../net/transport/transport.ts';
import { rcodeName } from './message.ts';
import type { MessageTransport, MessageTransportEvents } from './message-transport.ts';
import { isAnswerTo, type Questions } from './questions.ts';

const ids = 65_536;
const headerBytes = 12;
/** At the end of a client, an answer that has been waited for for less may have been about to come. */
const minWaitMs = 1000;

export interface QueryChannelDeps {
  readonly samples: Samples;
  readonly config: DnsClientConfig;
  readonly questions: Questions;
  /** Maximum number of queries in flight. */
  readonly capacity: number;
  /** A slot of the channel is free again. */
  readonly onFree: (slot: number, now: number) => void;
}

/**
 * One transport with its queries in flight. Each query has a slot. The message id is derived from the slot and a
 * generation, so that late answers are recognised.
 */
export class QueryChannel implements MessageTransportEvents {
  /** Set during preparation, before the first query. */
  transport: MessageTransport | undefined;
  pending = 0;
  readonly #deps: QueryChannelDeps;
  readonly #capacity: number;
  readonly #stride: number;
  /** Message id by slot; −1: free. */
  readonly #ids: Int32Array;
  readonly #generations: Uint16Array;
  readonly #intended: Float64Array;
  readonly #sentAt: Float64Array;
  readonly #retriesLeft: Uint8Array;
  readonly #questionEnds: Uint16Array;
  readonly #messages: Buffer;
  readonly #views: Buffer[] = [];
  readonly #query: { readonly bytes: Buffer; at: number; questionEnd: number };
  readonly #meters: Record<'queries' | 'answers' | 'txBytes' | 'rxBytes', Counter>;
  readonly #rcodes: Counter[] = [];
  readonly #latency: Histogram;
  readonly #service: Histogram;

  constructor(deps: QueryChannelDeps) {
    const { samples, questions, capacity } = deps;
    this.#deps = deps;
    this.#capacity = capacity;
    this.#stride = questions.maxBytes;
    this.#ids = new Int32Array(capacity).fill(-1);
    this.#generations = Uint16Array.from({ length: capacity }, () =>
      Math.floor(Math.random() * Math.floor(ids / capacity)),
    );
    this.#intended = new Float64Array(capacity);
    this.#sentAt = new Float64Array(capacity);
    this.#retriesLeft = new Uint8Array(capacity);
    this.#questionEnds = new Uint16Array(capacity);
    this.#messages = Buffer.alloc(capacity * this.#stride);
    this.#query = { bytes: this.#messages, at: 0, questionEnd: 0 };
    this.#meters = {
      queries: samples.counter('dns.queries'),
      answers: samples.counter('dns.answers'),
      txBytes: samples.counter('dns.txBytes'),
      rxBytes: samples.counter('dns.rxBytes'),
    };
    this.#latency = samples.histogram('dns.latency');
    this.#service = samples.histogram('dns.service');
  }

  ask(slot: number, intended: number, now: number): void {
    const generation = this.#generations[slot] as number;
    const id = generation * this.#capacity + slot;
    this.#generations[slot] = (generation + 2) * this.#capacity > ids ? 0 : generation + 1;
    const at = slot * this.#stride;
    const written = this.#deps.questions.write(this.#messages, at, id);
    if (written === undefined) return;
    const { length, questionEnd } = written;
    if (this.#views[slot]?.length !== length) this.#views[slot] = this.#messages.subarray(at, at + length);
    this.#ids[slot] = id;
    this.#intended[slot] = intended;
    this.#sentAt[slot] = now;
    this.#retriesLeft[slot] = this.#deps.config.retries;
    this.#questionEnds[slot] = questionEnd;
    this.pending++;
    this.#send(slot);
  }

  onAnswer(id: number, answer: Chunk): void {
    const { bytes, start, end, now } = answer;
    const slot = id % this.#capacity;
    if (this.#ids[slot] !== id) {
      this.#deps.samples.counter('dns.late').add(1);
      return;
    }
    this.#query.at = slot * this.#stride;
    this.#query.questionEnd = this.#questionEnds[slot] as number;
    const isResponse = end - start >= headerBytes && ((bytes[start + 2] as number) & 0x80) !== 0;
    if (!isResponse || !isAnswerTo(this.#query, answer)) {
      this.#deps.samples.counter('dns.mismatched').add(1);
      return;
    }
    this.#meters.answers.add(1);
    this.#meters.rxBytes.add(end - start);
    this.#countRcode((bytes[start + 3] as number) & 15);
    if (((bytes[start + 2] as number) & 2) !== 0) this.#deps.samples.counter('dns.truncated').add(1);
    this.#latency.record((now - (this.#intended[slot] as number)) * 1000);
    this.#service.record((now - (this.#sentAt[slot] as number)) * 1000);
    this.#free(slot, now);
  }

  onFail(id: number, code: string): void {
    const slot = id % this.#capacity;
    if (this.#ids[slot] !== id) return;
    countError(this.#deps.samples, 'dns', code);
    this.#free(slot, performance.now());
  }

  onError(code: string): void {
    countError(this.#deps.samples, 'dns', code);
  }

  onConnect({ ms, isResumed }: { readonly ms: number; readonly isResumed: boolean }): void {
    if (isResumed) this.#deps.samples.counter('dns.resumed').add(1);
    this.#deps.samples.counter('dns.connections').add(1);
    this.#deps.samples.histogram('dns.connect').record(ms * 1000);
  }

  sweep(now: number): void {
    const { config } = this.#deps;
    if (this.pending === 0) return;
    for (let slot = 0; slot < this.#capacity; slot++) {
      if ((this.#ids[slot] as number) < 0 || now - (this.#sentAt[slot] as number) <= config.timeoutMs) continue;
      this.#expire(slot, now);
    }
  }

  /** The client ends: queries that have waited for a while are without an answer, whatever retries they had left. */
  abandon(now: number): void {
    for (let slot = 0; slot < this.#capacity; slot++) {
      if ((this.#ids[slot] as number) < 0 || now - (this.#sentAt[slot] as number) < minWaitMs) continue;
      this.#retriesLeft[slot] = 0;
      this.#expire(slot, now);
    }
  }

  #expire(slot: number, now: number): void {
    const { samples } = this.#deps;
    const left = this.#retriesLeft[slot] as number;
    if (left > 0) {
      this.#retriesLeft[slot] = left - 1;
      this.#sentAt[slot] = now;
      samples.counter('dns.retries').add(1);
      this.#send(slot);
    } else {
      this.transport?.forget(this.#ids[slot] as number);
      samples.counter('dns.timeouts').add(1);
      // Without the time they waited, percentiles would show only fast answers.
      this.#latency.record((now - (this.#intended[slot] as number)) * 1000);
      this.#service.record((now - (this.#sentAt[slot] as number)) * 1000);
      this.#free(slot, now);
    }
  }

  #free(slot: number, now: number): void {
    this.#ids[slot] = -1;
    this.pending--;
    this.#deps.onFree(slot, now);
  }

  #countRcode(rcode: number): void {
    let counter = this.#rcodes[rcode];
    if (counter === undefined) {
      counter = this.#deps.samples.counter(`dns.rcode.${rcodeName(rcode)}`);
      this.#rcodes[rcode] = counter;
    }
    counter.add(1);
  }

  #send(slot: number): void {
    const message = this.#views[slot] as Buffer;
    this.#meters.queries.add(1);
    this.#meters.txBytes.add(message.length);
    this.transport?.send(message, this.#ids[slot] as number);
  }
}
