import { randomBytes } from 'node:crypto';
import type { DnsClientConfig } from '@rushhour/protocol';
import { encodeQuery, recordTypes } from './message.ts';

const prefixLength = 8;
// The header, then the length of the first label.
const prefixAt = 13;

/** Makes queries, one name and type after another. */
export class Questions {
  readonly #templates: readonly Buffer[];
  readonly #randomPrefix: boolean;
  #next = 0;

  constructor(config: DnsClientConfig) {
    this.#randomPrefix = config.randomPrefix;
    const { recursion, edns } = config;
    const prefix = config.randomPrefix ? `${'x'.repeat(prefixLength)}.` : '';
    this.#templates = config.names.flatMap((name) =>
      config.types.map((type) =>
        encodeQuery({ name: prefix + name, type: recordTypes[type] as number }, { recursion, edns }),
      ),
    );
  }

  next(id: number): Buffer {
    const template = this.#templates[this.#next] as Buffer;
    this.#next = (this.#next + 1) % this.#templates.length;
    const message = Buffer.from(template);
    message.writeUInt16BE(id, 0);
    if (this.#randomPrefix) message.write(randomBytes(prefixLength / 2).toString('hex'), prefixAt, 'latin1');
    return message;
  }
}

/** Whether an answer repeats the question it should answer. */
export const isAnswerTo = (query: Buffer, answer: Buffer): boolean => {
  let end = 12;
  while (query[end] !== 0) end += (query[end] as number) + 1;
  return answer.subarray(12, end + 5).equals(query.subarray(12, end + 5));
};
