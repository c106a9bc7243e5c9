import type { HttpClientConfig } from '@rushhour/protocol';

/** Finds a text in bytes that arrive in pieces. */
class BodySearch {
  readonly #needle: Buffer;
  #tail: Buffer = Buffer.alloc(0);
  isFound = false;

  constructor(needle: string) {
    this.#needle = Buffer.from(needle);
  }

  feed(bytes: Buffer, start: number, end: number): void {
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

/** Judges answers, those of one connection: bodies of different ones interleave. */
export class Expectation {
  readonly #statuses: Uint8Array;
  readonly #search: BodySearch | undefined;

  constructor(expect: HttpClientConfig['expect']) {
    this.#statuses = new Uint8Array(1000);
    if (expect.status.length === 0) this.#statuses.fill(1, 200, 400);
    for (const status of expect.status) this.#statuses[status] = 1;
    this.#search = expect.bodyContains === undefined ? undefined : new BodySearch(expect.bodyContains);
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    this.#search?.feed(bytes, start, end);
  }

  /** Forgets an answer that was cut off. */
  reset(): void {
    this.#search?.reset();
  }

  /** Judges the answer that has just ended and is ready for the next. */
  isMet(status: number): boolean {
    const isMet = this.#statuses[status] === 1 && (this.#search === undefined || this.#search.isFound);
    this.#search?.reset();
    return isMet;
  }
}

/** Makes one for each connection, or the same for all where bodies do not matter. */
export const createExpectations = (expect: HttpClientConfig['expect']): (() => Expectation) => {
  const shared = new Expectation(expect);
  return expect.bodyContains === undefined ? () => shared : () => new Expectation(expect);
};
