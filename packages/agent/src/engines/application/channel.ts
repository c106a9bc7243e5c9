/** Why waiting has ended. */
export type Wait = 'arrived' | 'timeout' | 'ended';

/** The end of one session's connection or flow of datagrams. */
export interface Channel {
  /** Bytes that have come and were not taken; of datagrams those of the first one. */
  readonly length: number;
  /** Why it is over, where it failed; `closed` when it ended in order. */
  readonly failure: string | undefined;
  /** All that has come and was not taken. */
  peek(): Buffer;
  /** So many bytes, or all there are; of datagrams the first one. */
  take(count: number): Buffer;
  /** Waits until there are so many bytes; of datagrams, until there is one. */
  wait(count: number, timeoutMs: number): Promise<Wait>;
  /** The bytes stay as they are. */
  send(bytes: Uint8Array): void;
  /** Sends what is written, then says goodbye. */
  close(): void;
  reset(): void;
}

/** Keeps what has come, and wakes the one who waits for it. */
class Inbox {
  readonly #isWhole: boolean;
  #chunks: Buffer[] = [];
  #length = 0;
  #waiting: { count: number; timer: NodeJS.Timeout; resolve: (wait: Wait) => void } | undefined;
  failure: string | undefined;

  /** `datagrams` are taken one by one, `stream` as bytes. */
  constructor(kind: 'stream' | 'datagrams') {
    this.#isWhole = kind === 'datagrams';
  }

  get length(): number {
    return this.#isWhole ? (this.#chunks[0]?.length ?? 0) : this.#length;
  }

  /** The bytes are kept: they must not change any more. */
  add(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    if (this.#waiting !== undefined && this.#has(this.#waiting.count)) this.#wake('arrived');
  }

  end(failure: string): void {
    this.failure ??= failure;
    this.#wake('ended');
  }

  peek(): Buffer {
    if (this.#isWhole) return this.#chunks[0] ?? Buffer.alloc(0);
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  take(count: number): Buffer {
    const all = this.peek();
    const taken = this.#isWhole ? all : all.subarray(0, count);
    this.#length -= taken.length;
    if (this.#isWhole || taken.length === all.length) this.#chunks.shift();
    else this.#chunks[0] = all.subarray(taken.length);
    return taken;
  }

  wait(count: number, timeoutMs: number): Promise<Wait> {
    if (this.#has(count)) return Promise.resolve('arrived');
    if (this.failure !== undefined) return Promise.resolve('ended');
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake('timeout'), timeoutMs);
      this.#waiting = { count, timer, resolve };
    });
  }

  #has(count: number): boolean {
    return this.#isWhole ? this.#chunks.length > 0 : this.#length >= count;
  }

  #wake(wait: Wait): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(waiting?.timer);
    waiting?.resolve(wait);
  }
}

/** A channel that keeps what has come in an inbox. */
export abstract class InboxChannel implements Channel {
  protected readonly inbox: Inbox;

  constructor(kind: 'stream' | 'datagrams') {
    this.inbox = new Inbox(kind);
  }

  abstract send(bytes: Uint8Array): void;
  abstract close(): void;
  abstract reset(): void;

  get length(): number {
    return this.inbox.length;
  }
  get failure(): string | undefined {
    return this.inbox.failure;
  }
  peek(): Buffer {
    return this.inbox.peek();
  }
  take(count: number): Buffer {
    return this.inbox.take(count);
  }
  wait(count: number, timeoutMs: number): Promise<Wait> {
    return this.inbox.wait(count, timeoutMs);
  }
}
