import type { DnsServerConfig } from '@rushhour/protocol';
import type { Counter, Samples } from '../../engine.ts';
import { decodeQuery, encodeAnswer, encodeFormatError, rcodeName } from './message.ts';
import { Zone } from './zone.ts';

const rcode = { noError: 0, nameError: 3, notImplemented: 4 } as const;

/** An encoded answer without its id. */
interface CachedAnswer {
  readonly answer: Buffer;
  readonly rcode: Counter;
}

const maxCached = 10_000;

/** Answers queries, independent of the transport. */
export class Resolver {
  readonly #zone: Zone;
  readonly #delayMs: number;
  readonly #samples: Samples;
  readonly #queries: Counter;
  readonly #answers: Counter;
  readonly #rxBytes: Counter;
  readonly #txBytes: Counter;
  readonly #caches: Record<'udp' | 'stream', Map<string, CachedAnswer>> = { udp: new Map(), stream: new Map() };

  constructor(config: DnsServerConfig, samples: Samples) {
    this.#zone = new Zone(config.answers);
    this.#delayMs = config.delayMs;
    this.#samples = samples;
    this.#queries = samples.counter('dns.received');
    this.#answers = samples.counter('dns.answered');
    this.#rxBytes = samples.counter('dns.rxBytes');
    this.#txBytes = samples.counter('dns.txBytes');
  }

  get isDelayed(): boolean {
    return this.#delayMs > 0;
  }

  /** The buffer passed to `send` is valid only during the call. Over UDP the query limits the size of the answer. */
  resolve(message: Buffer, carrier: 'udp' | 'stream', send: (answer: Buffer) => void): void {
    this.#queries.add(1);
    this.#rxBytes.add(message.length);
    const cached = this.#cached(message, carrier);
    if (cached === undefined) return;
    cached.rcode.add(1);
    const answer = this.isDelayed ? Buffer.from(cached.answer) : cached.answer;
    answer[0] = message[0] as number;
    answer[1] = message[1] as number;
    const go = () => {
      this.#answers.add(1);
      this.#txBytes.add(answer.length);
      send(answer);
    };
    if (this.isDelayed) setTimeout(go, this.#delayMs);
    else go();
  }

  /** Answers are cached: load tests repeat the same questions. */
  #cached(message: Buffer, carrier: 'udp' | 'stream'): CachedAnswer | undefined {
    const question = message.toString('latin1', 2);
    const cache = this.#caches[carrier];
    const cached = cache.get(question);
    if (cached !== undefined) return cached;
    const found = this.#answer(message, carrier);
    if (found === undefined) return undefined;
    if (cache.size >= maxCached) cache.clear();
    cache.set(question, found);
    return found;
  }

  #counted(rcodeText: string, answer: Buffer | undefined): CachedAnswer | undefined {
    return answer && { answer, rcode: this.#samples.counter(`dns.rcode.${rcodeText}`) };
  }

  #answer(message: Buffer, carrier: 'udp' | 'stream'): CachedAnswer | undefined {
    try {
      const query = decodeQuery(message);
      const maxBytes = carrier === 'stream' ? 65_535 : (query.edns?.size ?? 512);
      const records = query.opcode === 0 ? this.#zone.find(query.question) : [];
      const code = query.opcode !== 0 ? rcode.notImplemented : records === undefined ? rcode.nameError : rcode.noError;
      const answer = encodeAnswer(query, message, { rcode: code, records: records ?? [], maxBytes });
      return this.#counted(rcodeName(code), answer);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return this.#counted('FORMERR', encodeFormatError(message));
    }
  }
}
