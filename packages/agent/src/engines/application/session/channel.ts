/** Result of a wait. */
export type Wait = 'arrived' | 'timeout' | 'ended';

/** One end of a TCP connection or of a datagram flow. */
export interface Channel {
  /** Bytes received and not yet taken; for datagrams, the length of the first one. */
  readonly length: number;
  /** Error code when the channel failed; `closed` after a normal close. */
  readonly failure: string | undefined;
  /** All bytes received and not yet taken. */
  peek(): Buffer;
  /** Removes up to `count` bytes; for datagrams, the first one. */
  take(count: number): Buffer;
  /** Waits until `count` bytes have arrived; for datagrams, until one has. */
  wait(count: number, timeoutMs: number): Promise<Wait>;
  /** The caller must not modify the bytes afterwards. */
  send(bytes: Uint8Array): void;
  /** Sends all pending bytes, then closes. */
  close(): void;
  reset(): void;
}

/** Buffers received bytes and wakes the waiter. */
class Inbox {
  readonly #isWhole: boolean;
  #chunks: Buffer[] = [];
  #length = 0;
  #waiting: { count: number; timer: NodeJS.Timeout; resolve: (wait: Wait) => void } | undefined;
  failure: string | undefined;

  /** `datagrams`: one at a time; `stream`: any number of bytes. */
  constructor(kind: 'stream' | 'datagrams') {
    this.#isWhole = kind === 'datagrams';
  }

  get length(): number {
    return this.#isWhole ? (this.#chunks[0]?.length ?? 0) : this.#length;
  }

  /** Keeps a reference: the bytes must not change afterwards. */
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

/** A channel with an inbox for received bytes. */
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
