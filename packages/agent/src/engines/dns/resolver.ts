import type { DnsServerConfig } from '@rushhour/protocol';
import type { Counter, Samples } from '../../engine.ts';
import { decodeQuery, encodeAnswer, encodeFormatError, rcodeName } from './message.ts';
import { Zone } from './zone.ts';

const rcode = { noError: 0, nameError: 3, notImplemented: 4 } as const;

/** Answers messages, whatever carried them. */
export class Resolver {
  readonly #zone: Zone;
  readonly #delayMs: number;
  readonly #samples: Samples;
  readonly #queries: Counter;
  readonly #answers: Counter;

  constructor(config: DnsServerConfig, samples: Samples) {
    this.#zone = new Zone(config.answers);
    this.#delayMs = config.delayMs;
    this.#samples = samples;
    this.#queries = samples.counter('dns.received');
    this.#answers = samples.counter('dns.answered');
  }

  /** `maxBytes`: the largest answer the way back can carry; for UDP the asker says it. */
  resolve(message: Buffer, way: 'udp' | 'stream', send: (answer: Buffer) => void): void {
    this.#queries.add(1);
    this.#samples.counter('dns.rxBytes').add(message.length);
    const answer = this.#answer(message, way);
    if (answer === undefined) return;
    const go = () => {
      this.#answers.add(1);
      this.#samples.counter('dns.txBytes').add(answer.length);
      send(answer);
    };
    if (this.#delayMs > 0) setTimeout(go, this.#delayMs);
    else go();
  }

  #answer(message: Buffer, way: 'udp' | 'stream'): Buffer | undefined {
    try {
      const query = decodeQuery(message);
      const maxBytes = way === 'stream' ? 65_535 : (query.edns?.size ?? 512);
      const records = query.opcode === 0 ? this.#zone.find(query.question) : [];
      const code = query.opcode !== 0 ? rcode.notImplemented : records === undefined ? rcode.nameError : rcode.noError;
      this.#samples.counter(`dns.rcode.${rcodeName(code)}`).add(1);
      return encodeAnswer(query, message, { rcode: code, records: records ?? [], maxBytes });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#samples.counter('dns.rcode.FORMERR').add(1);
      return encodeFormatError(message);
    }
  }
}
