import type { HttpClientConfig } from '@rushhour/protocol';

/** Searches for a text in a byte stream. */
class BodySearch {
  readonly #needle: Buffer;
  #tail: Buffer = Buffer.alloc(0);
  isFound = false;

  constructor(needle: string) {
    this.#needle = Buffer.from(needle);
  }

  feed(bytes: Uint8Array, start: number, end: number): void {
    if (this.isFound) return;
    const text = Buffer.concat([this.#tail, bytes.subarray(start, end)]);
    this.isFound = text.includes(this.#needle);
    this.#tail = text.subarray(Math.max(0, text.length - this.#needle.length + 1));
  }

  reset(): void {
    this.isFound = false;
    this.#tail = Buffer.alloc(0);
  }
}

/** Evaluates the responses of one connection; bodies of different connections interleave. */
export class Expectation {
  readonly #statuses: Uint8Array;
  readonly #search: BodySearch | undefined;

  constructor(expect: HttpClientConfig['expect']) {
    this.#statuses = new Uint8Array(1000);
    if (expect.status.length === 0) this.#statuses.fill(1, 200, 400);
    for (const status of expect.status) this.#statuses[status] = 1;
    this.#search = expect.bodyContains === undefined ? undefined : new BodySearch(expect.bodyContains);
  }

  onBody(bytes: Uint8Array, start: number, end: number): void {
    this.#search?.feed(bytes, start, end);
  }

  /** Discards an incomplete response. */
  reset(): void {
    this.#search?.reset();
  }

  /** Evaluates the response that has just ended and resets. */
  isMet(status: number): boolean {
    const isMet = this.#statuses[status] === 1 && (this.#search === undefined || this.#search.isFound);
    this.#search?.reset();
    return isMet;
  }
}

/** One per connection, or a shared one when bodies are not searched. */
export const createExpectations = (expect: HttpClientConfig['expect']): (() => Expectation) => {
  const shared = new Expectation(expect);
  return expect.bodyContains === undefined ? () => shared : () => new Expectation(expect);
};
