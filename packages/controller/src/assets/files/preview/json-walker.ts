export type JsonScalar = string | number | boolean | null;
export type JsonPath = readonly (string | number)[];

/** Called for each value. `path` is reused during the walk: keep no reference to it. */
export interface JsonVisitor {
  open?(path: JsonPath, kind: 'object' | 'array'): void;
  close?(path: JsonPath): void;
  value?(path: JsonPath, value: JsonScalar): void;
}

/** The bytes are not JSON; `offset` is where that shows. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(`${message} at byte ${offset}`);
    this.offset = offset;
  }
}

const maxDepth = 200;
const maxTextBytes = 4096;
const maxWordBytes = 64;

const quote = 0x22;
const backslash = 0x5c;
const isBlank = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
/** Digits, letters, sign and point: what numbers, true, false and null are made of. */
const isWord = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2d ||
  byte === 0x2b ||
  byte === 0x2e ||
  byte === 0x45;

type State = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'next' | 'text' | 'word' | 'done';

/**
 * Walks JSON of any length in constant memory: chunks in, visits out. Strings are cut at 4 KiB, so that a body of
 * gigabytes costs no memory.
 */
export class JsonWalker {
  readonly #visitor: JsonVisitor;
  readonly #path: (string | number)[] = [];
  readonly #text = Buffer.alloc(maxTextBytes);
  #length = 0;
  #state: State = 'value';
  #isKey = false;
  #isEscaped = false;
  #hasEscapes = false;
  #offset = 0;

  constructor(visitor: JsonVisitor) {
    this.#visitor = visitor;
  }

  write(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#state === 'text') at = this.#readText(chunk, at);
      else if (this.#state === 'word') at = this.#readWord(chunk, at);
      else {
        const byte = chunk[at++] as number;
        if (!isBlank(byte)) this.#readMark(byte, this.#offset + at - 1);
      }
    }
    this.#offset += chunk.length;
  }

  /** Checks that the document is complete. */
  end(): void {
    if (this.#state === 'word') this.#endWord();
    if (this.#state !== 'done') throw new JsonError('the document ends too early', this.#offset);
  }

  #readMark(byte: number, offset: number): void {
    const letter = String.fromCharCode(byte);
    if (!this.#accepts(byte, letter, offset)) throw new JsonError(`unexpected ${JSON.stringify(letter)}`, offset);
  }

  #accepts(byte: number, letter: string, offset: number): boolean {
    switch (this.#state) {
      case 'value':
        return this.#beginsValue(byte, offset);
      case 'valueOrEnd':
        return letter === ']' ? this.#closes() : this.#beginsValue(byte, offset);
      case 'key':
        return byte === quote && this.#beginsText(true);
      case 'keyOrEnd':
        return byte === quote ? this.#beginsText(true) : letter === '}' && this.#closes();
      case 'colon':
        this.#state = 'value';
        return letter === ':';
      case 'next':
        return this.#continues(letter);
      default:
        return false;
    }
  }

  #continues(letter: string): boolean {
    const index = this.#path.at(-1);
    const isArray = typeof index === 'number';
    if (letter === (isArray ? ']' : '}')) return this.#closes();
    if (isArray) this.#path[this.#path.length - 1] = index + 1;
    this.#state = isArray ? 'value' : 'key';
    return letter === ',';
  }

  #beginsValue(byte: number, offset: number): boolean {
    if (byte === quote) return this.#beginsText(false);
    if (byte === 0x7b || byte === 0x5b) return this.#opens(byte === 0x5b, offset);
    this.#text[0] = byte;
    this.#length = 1;
    this.#state = 'word';
    return isWord(byte);
  }

  #opens(isArray: boolean, offset: number): boolean {
    if (this.#path.length >= maxDepth) throw new JsonError('nested too deeply', offset);
    this.#visitor.open?.(this.#path, isArray ? 'array' : 'object');
    this.#path.push(isArray ? 0 : '');
    this.#state = isArray ? 'valueOrEnd' : 'keyOrEnd';
    return true;
  }

  #closes(): boolean {
    this.#path.pop();
    this.#visitor.close?.(this.#path);
    this.#endValue();
    return true;
  }

  #endValue(): void {
    this.#state = this.#path.length === 0 ? 'done' : 'next';
  }

  #beginsText(isKey: boolean): boolean {
    this.#isKey = isKey;
    this.#isEscaped = false;
    this.#hasEscapes = false;
    this.#length = 0;
    this.#state = 'text';
    return true;
  }

  #readText(chunk: Uint8Array, from: number): number {
    let at = from;
    let isEscaped = this.#isEscaped;
    let byte = 0;
    for (; at < chunk.length; at++) {
      byte = chunk[at] as number;
      if (isEscaped) isEscaped = false;
      else if (byte === quote) break;
      else if (byte === backslash) isEscaped = this.#hasEscapes = true;
    }
    this.#keepText(chunk.subarray(from, at));
    this.#isEscaped = isEscaped;
    if (at === chunk.length) return at;
    this.#endText();
    return at + 1;
  }

  #keepText(bytes: Uint8Array): void {
    const kept = bytes.subarray(0, maxTextBytes - this.#length);
    this.#text.set(kept, this.#length);
    this.#length += kept.length;
  }

  #endText(): void {
    const raw = this.#text.toString('utf8', 0, this.#length);
    const text = this.#hasEscapes ? unescapeText(raw) : raw;
    if (this.#isKey) {
      this.#path[this.#path.length - 1] = text;
      this.#state = 'colon';
      return;
    }
    this.#visitor.value?.(this.#path, text);
    this.#endValue();
  }

  #readWord(chunk: Uint8Array, from: number): number {
    let at = from;
    for (; at < chunk.length && isWord(chunk[at] as number); at++) {
      if (this.#length >= maxWordBytes) throw new JsonError('neither a number nor a word', this.#offset + at);
      this.#text[this.#length++] = chunk[at] as number;
    }
    if (at < chunk.length) this.#endWord();
    return at;
  }

  #endWord(): void {
    const word = this.#text.toString('latin1', 0, this.#length);
    const known: Record<string, JsonScalar> = { true: true, false: false, null: null };
    const value = Object.hasOwn(known, word) ? (known[word] as JsonScalar) : Number(word);
    if (Number.isNaN(value)) throw new JsonError(`${word} is not JSON`, this.#offset);
    this.#visitor.value?.(this.#path, value);
    this.#endValue();
  }
}

/** A cut can split the last escape; then the raw text is shown. */
const unescapeText = (raw: string): string => {
  try {
    return JSON.parse(`"${raw.replace(/\p{Cc}/gu, ' ')}"`);
  } catch {
    return raw;
  }
};
