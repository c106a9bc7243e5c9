/** A description of messages that cannot be read, or content that does not fit it. */
export class ProtoError extends Error {}

const pattern =
  /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_.][A-Za-z0-9_.]*|-?[0-9][A-Za-z0-9.+-]*|[{}()[\]<>=;,:/-])/gy;

/** The words and signs of a `.proto` file, one after the other. */
export class ProtoTokens {
  readonly #tokens: { readonly text: string; readonly at: number }[] = [];
  readonly #source: string;
  #next = 0;

  constructor(source: string) {
    this.#source = source;
    let at = 0;
    for (const match of source.matchAll(pattern)) {
      if (match[1] !== undefined) this.#tokens.push({ text: match[1], at: match.index });
      at = match.index + match[0].length;
    }
    if (at < source.length) throw new ProtoError(`line ${this.#lineOf(at)}: cannot be read`);
  }

  get isAtEnd(): boolean {
    return this.#next >= this.#tokens.length;
  }

  peek(): string {
    return this.#tokens[this.#next]?.text ?? '';
  }

  take(): string {
    if (this.isAtEnd) throw new ProtoError('ends too early');
    return (this.#tokens[this.#next++] as { text: string }).text;
  }

  /** Takes the token if it is this one. */
  takeIf(text: string): boolean {
    if (this.peek() !== text) return false;
    this.#next++;
    return true;
  }

  expect(text: string): void {
    if (!this.takeIf(text)) this.fail(`"${text}" is expected, not "${this.peek()}"`);
  }

  name(): string {
    const text = this.take();
    if (!/^[A-Za-z_.]/.test(text)) this.fail(`a name is expected, not "${text}"`);
    return text;
  }

  number(): number {
    const text = this.take();
    const value = Number(text);
    if (!Number.isInteger(value)) this.fail(`a whole number is expected, not "${text}"`);
    return value;
  }

  /** Skips to the end of a statement or of its block. */
  skipStatement(): void {
    let depth = 0;
    for (;;) {
      const text = this.take();
      if (text === '{') depth++;
      else if (text === '}') depth--;
      if (depth === 0 && (text === ';' || text === '}')) return;
    }
  }

  fail(message: string): never {
    const at = this.#tokens[Math.max(0, this.#next - 1)]?.at ?? 0;
    throw new ProtoError(`line ${this.#lineOf(at)}: ${message}`);
  }

  #lineOf(at: number): number {
    return this.#source.slice(0, at).split('\n').length;
  }
}
