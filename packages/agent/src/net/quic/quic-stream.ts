import { mapMemory } from '../kernel/memory.ts';
import { requireOpenssl } from '../openssl/library.ts';
import { type Polled, type PollSet, pollEvent } from './poll-set.ts';
import type { QuicStream, QuicStreamEvents } from './quic.ts';

const bufferBytes = 65_536;
const concludes = 1;
const failure = { wantRead: 2, zeroReturn: 6 } as const;
const readState = { finished: 3, resetByPeer: 5 } as const;

/** Memory for the data of all streams of a thread: it is used by one call at a time. */
class StreamBuffers {
  readonly #memory = mapMemory({ length: 2 * bufferBytes + 64 });
  readonly received = this.#memory.bytes.subarray(0, bufferBytes);
  readonly receiveAt = this.#memory.addressOf(0, bufferBytes);
  readonly sendAt = this.#memory.addressOf(bufferBytes, bufferBytes);
  readonly countAt = this.#memory.addressOf(2 * bufferBytes, 8);
  readonly #sent = this.#memory.bytes.subarray(bufferBytes, 2 * bufferBytes);
  readonly #tail = this.#memory.bytes.subarray(2 * bufferBytes);

  /** Copies the next part to send; returns its length. */
  fill(bytes: Uint8Array, from: number): number {
    const count = Math.min(bufferBytes, bytes.length - from);
    this.#sent.set(from === 0 && count === bytes.length ? bytes : bytes.subarray(from, from + count));
    return count;
  }

  get count(): number {
    return this.#tail.readUInt32LE(0);
  }

  set number(value: number) {
    this.#tail.writeBigUInt64LE(BigInt(value), 0);
  }

  get number(): number {
    return Number(this.#tail.readBigUInt64LE(0));
  }
}

let shared: StreamBuffers | undefined;
const streamBuffers = (): StreamBuffers => {
  shared ??= new StreamBuffers();
  return shared;
};

/** What a stream needs of its connection. */
export interface StreamOwner {
  readonly set: PollSet;
  /** Something was written that has to be sent. */
  touch(): void;
  forget(stream: OpensslStream): void;
  /** Data of streams is about to be delivered. */
  onRead(now: number): void;
}

/** A stream by OpenSSL. It is freed when both directions are done. */
export class OpensslStream implements QuicStream, Polled {
  readonly id: number;
  pollIndex = -1;
  ssl: number;
  events!: QuicStreamEvents;
  readonly #openssl = requireOpenssl();
  readonly #owner: StreamOwner;
  /** What OpenSSL has not yet taken. */
  readonly #waiting: Uint8Array[] = [];
  #endsAfterWaiting = false;
  #canRead: boolean;
  #canWrite: boolean;

  constructor(ssl: number, owner: StreamOwner, direction: { readonly reads: boolean; readonly writes: boolean }) {
    this.ssl = ssl;
    this.#owner = owner;
    this.#canRead = direction.reads;
    this.#canWrite = direction.writes;
    this.id = Number(this.#openssl.SSL_get_stream_id(ssl));
    if (direction.reads) owner.set.add(this, pollEvent.readable | pollEvent.readFailed);
  }

  get isHeldUp(): boolean {
    return this.#waiting.length > 0;
  }

  write(bytes: Uint8Array, isEnd: boolean): void {
    if (!this.#canWrite) return;
    const written = this.#waiting.length > 0 ? 0 : this.#send(bytes, isEnd);
    if (written < bytes.length && this.#canWrite) this.#waiting.push(Buffer.from(bytes.subarray(written)));
    if (this.#waiting.length > 0) {
      this.#endsAfterWaiting = isEnd;
      this.#await();
    }
    this.#owner.touch();
  }

  reset(code: number): void {
    if (this.ssl === 0) return;
    const buffers = streamBuffers();
    buffers.number = code;
    if (this.#canWrite) this.#openssl.SSL_stream_reset(this.ssl, buffers.countAt, 8);
    this.#openssl.ERR_clear_error();
    // Freeing asks the peer to stop sending.
    this.#owner.touch();
    this.#owner.forget(this);
    this.free();
  }

  onReady(events: number, now: number): void {
    this.#owner.onRead(now);
    if ((events & (pollEvent.writable | pollEvent.writeFailed)) !== 0) this.#sendWaiting();
    if ((events & (pollEvent.readable | pollEvent.readFailed)) !== 0) this.read();
  }

  /** Delivers what has arrived. */
  read(): void {
    const buffers = streamBuffers();
    while (this.ssl !== 0 && this.#canRead) {
      const count = this.#openssl.SSL_read(this.ssl, buffers.receiveAt, bufferBytes);
      if (count <= 0) {
        this.#endReading(count);
        return;
      }
      const isEnd = this.#openssl.SSL_get_stream_read_state(this.ssl) === readState.finished;
      if (isEnd) this.#canRead = false;
      this.events.onData(buffers.received, 0, count, isEnd);
      if (isEnd) this.#settle();
      if (count < bufferBytes) return;
    }
  }

  /** Called by the connection only, or after it has forgotten the stream. */
  free(): void {
    if (this.ssl === 0) return;
    this.#owner.set.remove(this);
    this.#openssl.SSL_free(this.ssl);
    this.ssl = 0;
    this.#canRead = false;
    this.#canWrite = false;
    this.#waiting.length = 0;
  }

  #endReading(result: number): void {
    const kind = this.#openssl.SSL_get_error(this.ssl, result);
    if (kind === failure.wantRead) return;
    const state = this.#openssl.SSL_get_stream_read_state(this.ssl);
    this.#openssl.ERR_clear_error();
    // The connection reports its own end.
    if (kind !== failure.zeroReturn && state !== readState.resetByPeer) {
      this.#owner.set.remove(this);
      return;
    }
    this.#canRead = false;
    if (kind === failure.zeroReturn) this.events.onData(streamBuffers().received, 0, 0, true);
    else this.events.onReset(this.#resetCode());
    this.#settle();
  }

  #resetCode(): number {
    const buffers = streamBuffers();
    buffers.number = 0;
    this.#openssl.SSL_get_stream_read_error_code(this.ssl, buffers.countAt);
    this.#openssl.ERR_clear_error();
    return buffers.number;
  }

  /** Returns how many bytes OpenSSL has taken. */
  #send(bytes: Uint8Array, isEnd: boolean): number {
    const buffers = streamBuffers();
    let at = 0;
    if (bytes.length === 0 && isEnd) this.#openssl.SSL_stream_conclude(this.ssl, 0);
    while (at < bytes.length) {
      const count = buffers.fill(bytes, at);
      const flags = isEnd && at + count === bytes.length ? concludes : 0;
      const isWritten = this.#openssl.SSL_write_ex2(this.ssl, buffers.sendAt, count, flags, buffers.countAt) === 1;
      if (!isWritten) {
        this.#judgeWrite();
        return at;
      }
      at += buffers.count;
      if (buffers.count < count) return at;
    }
    if (isEnd) {
      this.#canWrite = false;
      this.#settle();
    }
    return at;
  }

  #judgeWrite(): void {
    const wantWrite = 3;
    const kind = this.#openssl.SSL_get_error(this.ssl, 0);
    this.#openssl.ERR_clear_error();
    if (kind === wantWrite) return;
    // The peer wants no more.
    this.#canWrite = false;
    this.#settle();
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const written = this.#send(first, this.#endsAfterWaiting && waiting.length === 1);
      if (this.ssl === 0) return;
      if (!this.#canWrite) waiting.length = 0;
      else if (written === first.length) waiting.shift();
      else {
        waiting[0] = first.subarray(written);
        break;
      }
    }
    this.#await();
    this.#owner.touch();
    if (!this.isHeldUp) this.events.onDrained?.();
  }

  #await(): void {
    const { set } = this.#owner;
    const events =
      (this.#canRead ? pollEvent.readable | pollEvent.readFailed : 0) |
      (this.#waiting.length === 0 ? 0 : pollEvent.writable | pollEvent.writeFailed);
    if (events === 0) set.remove(this);
    else if (this.pollIndex >= 0) set.await(this, events);
    else set.add(this, events);
  }

  #settle(): void {
    if (this.ssl === 0) return;
    if (!this.#canRead && !this.#canWrite) {
      this.#owner.forget(this);
      this.free();
    } else this.#await();
  }
}
