import { randomBytes } from 'node:crypto';
import type { DnsClientConfig } from '@rushhour/protocol';
import type { Chunk } from '../../net/transport/transport.ts';
import { encodeQuery, recordTypes } from './message.ts';

const headerBytes = 12;
const prefixLength = 8;
// The header, then the length of the first label.
const prefixAt = 13;

interface Template {
  readonly bytes: Buffer;
  /** Offset after the question section. */
  readonly questionEnd: number;
}

const templateOf = (bytes: Buffer): Template => {
  let end = headerBytes;
  while (bytes[end] !== 0) end += (bytes[end] as number) + 1;
  return { bytes, questionEnd: end + 5 };
};

/** Generates queries for all names and types in rotation. */
export class Questions {
  /** Bytes of the longest query. */
  readonly maxBytes: number;
  readonly #templates: readonly Template[];
  readonly #randomPrefix: boolean;
  #next = 0;

  constructor(config: DnsClientConfig) {
    this.#randomPrefix = config.randomPrefix;
    const { recursion, edns } = config;
    const prefix = config.randomPrefix ? `${'x'.repeat(prefixLength)}.` : '';
    this.#templates = config.names.flatMap((name) =>
      config.types.map((type) =>
        templateOf(encodeQuery({ name: prefix + name, type: recordTypes[type] as number }, { recursion, edns })),
      ),
    );
    this.maxBytes = Math.max(...this.#templates.map(({ bytes }) => bytes.length));
  }

  /** Writes the next query; returns its length and the end of its question. */
  write(into: Buffer, at: number, id: number): { readonly length: number; readonly questionEnd: number } {
    const { bytes, questionEnd } = this.#templates[this.#next] as Template;
    this.#next = this.#next + 1 === this.#templates.length ? 0 : this.#next + 1;
    // For so few bytes a loop is cheaper than a call of `copy`.
    for (let i = 2; i < bytes.length; i++) into[at + i] = bytes[i] as number;
    into[at] = id >> 8;
    into[at + 1] = id & 255;
    if (this.#randomPrefix) into.write(randomBytes(prefixLength / 2).toString('hex'), at + prefixAt, 'latin1');
    return this.#spanOf(bytes.length, questionEnd);
  }

  readonly #span = { length: 0, questionEnd: 0 };

  #spanOf(length: number, questionEnd: number) {
    this.#span.length = length;
    this.#span.questionEnd = questionEnd;
    return this.#span;
  }
}

/** Whether an answer repeats the question of the query. */
export const isAnswerTo = (
  query: { readonly bytes: Buffer; readonly at: number; readonly questionEnd: number },
  { bytes, start, end }: Chunk,
): boolean => {
  if (end - start < query.questionEnd) return false;
  for (let i = headerBytes; i < query.questionEnd; i++) {
    if (query.bytes[query.at + i] !== bytes[start + i]) return false;
  }
  return true;
};
