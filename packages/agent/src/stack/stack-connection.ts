import { type CloseCause, copyOf, formatAddress, type TcpConnection, type TcpEvents } from '@rushhour/wire';
import type { IndexedMember } from '../net/loop/indexed-set.ts';
import type { Flushable } from '../net/loop/pre-wait-tasks.ts';
import type { Chunk, Connection, ConnectionEvents, Message } from '../net/transport/transport.ts';
import type { Stack } from './stack.ts';

const buffers = new WeakMap<Uint8Array, Buffer>();

/** Engines read buffers; memory of the stack is plain bytes. */
const bufferOf = (bytes: Uint8Array): Buffer => {
  if (Buffer.isBuffer(bytes)) return bytes;
  const known = buffers.get(bytes);
  if (known !== undefined) return known;
  const made = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  buffers.set(bytes, made);
  return made;
};

/** One chunk for all connections: it is valid during the call only. */
const chunk: { -readonly [K in keyof Chunk]: Chunk[K] } = { bytes: Buffer.alloc(0), start: 0, end: 0, now: 0 };

/** What becomes of a connection that its engine has left: its last data and FIN are still delivered. */
const orphan: TcpEvents = { onOpen() {}, onData() {}, onSent() {}, onEnd() {}, onClose() {} };

interface Endpoints {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** What the connections of a transport share. */
export interface StackConnectionOwner {
  readonly stack: Stack;
  readonly closesImmediately: boolean;
  onClosed(connection: StackConnection): void;
}

/** A TCP connection of an emulated host. */
export class StackConnection implements Connection, TcpEvents, IndexedMember, Flushable {
  setIndex = -1;
  events!: ConnectionEvents;
  /** Undefined once it is closed. */
  tcp: TcpConnection | undefined;
  readonly #owner: StackConnectionOwner;
  #isOpen: boolean;
  #isClosing = false;
  #isReset = false;
  #code: string | undefined;

  constructor(owner: StackConnectionOwner, isOpen: boolean) {
    this.#owner = owner;
    this.#isOpen = isOpen;
  }

  /** Addresses and ports; only while it is open. */
  get endpoints(): Endpoints | undefined {
    if (this.tcp === undefined) return undefined;
    const { keys, at } = this.#owner.stack.group.tcp.keyOf(this.tcp);
    const ports = keys[at + 8] as number;
    return {
      localAddress: formatAddress(keys, at),
      localPort: ports >>> 16,
      remoteAddress: formatAddress(keys, at + 4),
      remotePort: ports & 0xffff,
    };
  }

  write({ bytes, summed }: Message): void {
    if (this.tcp === undefined || bytes.length === 0) return;
    const { tcp } = this.#owner.stack.group;
    if (summed === undefined) tcp.send(this.tcp, bytes);
    else tcp.sendSummed(this.tcp, summed);
    this.#owner.stack.scheduleFlush();
  }

  writeCopy(bytes: Uint8Array): void {
    if (this.tcp === undefined || bytes.length === 0) return;
    const { tcp } = this.#owner.stack.group;
    const taken = tcp.sendCopy(this.tcp, bytes);
    if (taken < bytes.length) tcp.send(this.tcp, copyOf(bytes, taken));
    this.#owner.stack.scheduleFlush();
  }

  close(): void {
    if (this.tcp === undefined || this.#isClosing) return;
    this.#isClosing = true;
    if (this.#isOpen) this.#sendFin();
  }

  reset(): void {
    if (this.#isReset) return;
    this.#isReset = true;
    if (this.tcp === undefined) return;
    this.#owner.stack.group.tcp.abort(this.tcp);
    this.#owner.stack.scheduleFlush();
  }

  /** The connection cannot be opened: no port is free. Reported outside of the call that asked for it. */
  fail(code: string): void {
    this.#code = code;
    queueMicrotask(() => this.#finish());
  }

  /** After a FIN whose answer is of no interest. */
  flush(): void {
    const { tcp } = this;
    if (tcp === undefined) return;
    tcp.events = orphan;
    this.tcp = undefined;
    this.#finish();
  }

  onOpen(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.events.onOpen(this.#owner.stack.now);
    if (this.#isClosing) this.#sendFin();
  }

  onData(_connection: TcpConnection, bytes: Uint8Array, start: number, end: number): void {
    if (this.#isReset) return;
    chunk.bytes = bufferOf(bytes);
    chunk.start = start;
    chunk.end = end;
    chunk.now = this.#owner.stack.now;
    this.events.onData(chunk);
  }

  onSent(): void {
    this.events.onSent?.(this.#owner.stack.now);
  }

  onEnd(): void {
    if (this.events.onEnd === undefined) this.close();
    else this.events.onEnd();
  }

  onClose(_connection: TcpConnection, cause: CloseCause | undefined): void {
    this.tcp = undefined;
    this.#code = cause;
    this.#finish();
  }

  #sendFin(): void {
    if (this.tcp === undefined) return;
    this.#owner.stack.group.tcp.close(this.tcp);
    this.#owner.stack.scheduleFlush();
    if (this.#owner.closesImmediately) this.#owner.stack.defer(this);
  }

  #finish(): void {
    this.#owner.onClosed(this);
    this.events.onClose(this.#isReset ? undefined : this.#code, this.#owner.stack.now);
  }
}
