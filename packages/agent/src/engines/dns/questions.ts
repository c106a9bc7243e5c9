import { randomBytes } from 'node:crypto';
import type { DnsClientConfig } from '@rushhour/protocol';
import { DrawnTexts } from '../../net/load/drawn-texts.ts';
import type { Chunk } from '../../net/transport/transport.ts';
import { encodeQuery, recordTypes } from './message.ts';

const headerBytes = 12;
const prefixLength = 8;
// The header, then the length of the first label.
const prefixAt = 13;
/** Bytes of the longest name and of what is around it in a query. */
const maxDrawnBytes = headerBytes + 255 + 4 + 11;
/** Names of a dictionary that are not valid are left out; so many of them one after another end it. */
const maxInvalid = 1000;

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
  readonly #config: DnsClientConfig;
  readonly #drawn: DrawnTexts | undefined;
  #isSpent = false;
  #next = 0;

  constructor(config: DnsClientConfig) {
    this.#config = config;
    this.#drawn = config.drawn && new DrawnTexts(config.drawn, 1);
    this.#randomPrefix = config.randomPrefix;
    const { recursion, edns } = config;
    const prefix = config.randomPrefix ? `${'x'.repeat(prefixLength)}.` : '';
    this.#templates = config.names.flatMap((name) =>
      config.types.map((type) =>
        templateOf(encodeQuery({ name: prefix + name, type: recordTypes[type] as number }, { recursion, edns })),
      ),
    );
    this.maxBytes =
      this.#drawn === undefined ? Math.max(...this.#templates.map(({ bytes }) => bytes.length)) : maxDrawnBytes;
  }

  /** The dictionary has no names left. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Writes the next query; returns its length and the end of its question, and undefined when no name is left. */
  write(into: Buffer, at: number, id: number): { readonly length: number; readonly questionEnd: number } | undefined {
    const template = this.#drawn === undefined ? this.#fixed() : this.#fresh(this.#drawn);
    if (template === undefined) {
      this.#isSpent = true;
      return undefined;
    }
    const { bytes, questionEnd } = template;
    // For so few bytes a loop is cheaper than a call of `copy`.
    for (let i = 2; i < bytes.length; i++) into[at + i] = bytes[i] as number;
    into[at] = id >> 8;
    into[at + 1] = id & 255;
    if (this.#randomPrefix) into.write(randomBytes(prefixLength / 2).toString('hex'), at + prefixAt, 'latin1');
    return this.#spanOf(bytes.length, questionEnd);
  }

  #fixed(): Template {
    const template = this.#templates[this.#next] as Template;
    this.#next = this.#next + 1 === this.#templates.length ? 0 : this.#next + 1;
    return template;
  }

  #fresh(drawn: DrawnTexts): Template | undefined {
    const { types, recursion, edns } = this.#config;
    const type = recordTypes[types[this.#next] as string] as number;
    this.#next = this.#next + 1 === types.length ? 0 : this.#next + 1;
    const prefix = this.#randomPrefix ? `${'x'.repeat(prefixLength)}.` : '';
    for (let attempt = 0; attempt < maxInvalid; attempt++) {
      const name = drawn.next(0)?.trim();
      if (name === undefined) return undefined;
      try {
        if (name !== '') return templateOf(encodeQuery({ name: prefix + name, type }, { recursion, edns }));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
    }
    return undefined;
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
