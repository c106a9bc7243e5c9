import { SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { type Memory, mapMemory, writeAddress } from '../kernel/memory.ts';
import { enterFlag, mapOffset, paramsLayout, registration, ringCall, setupFlag } from './ring-layout.ts';

export interface RingSizes {
  readonly entries: number;
  readonly completions: number;
}

const defaultSizes: RingSizes = { entries: 4096, completions: 16_384 };
const interrupted = 4;
const timeExpired = 62;
const busy = 16;
const again = 11;

/** Called for each completion, in order. `token` is that of the request. */
export type OnCompletion = (token: number, result: number, flags: number) => void;

/**
 * The two queues shared with the kernel. Requests are written to memory and submitted together by one call, which also
 * waits. Belongs to the thread that created it: the kernel accesses the queues only during that thread's calls
 * (`deferTaskrun`), so they need no atomic operations.
 */
export class Ring {
  readonly fd: number;
  readonly #libc = requireLibc();
  readonly #sqes: Int32Array;
  readonly #rings: Int32Array;
  readonly #at: { sqTail: number; cqHead: number; cqTail: number; cqes: number };
  readonly #sqMask: number;
  readonly #cqMask: number;
  /** An `io_uring_getevents_arg`, followed by the timeout. */
  readonly #wait: Memory;
  readonly #waitWords: Int32Array;
  readonly #waitAddress: number;
  #tail = 0;
  #head = 0;
  #unsubmitted = 0;

  constructor({ entries, completions }: RingSizes = defaultSizes) {
    const params = mapMemory({ length: paramsLayout.bytes });
    const { clamp, cqSize, submitAll, coopTaskrun, singleIssuer, deferTaskrun } = setupFlag;
    params.bytes.writeUInt32LE(
      clamp | cqSize | submitAll | coopTaskrun | singleIssuer | deferTaskrun,
      paramsLayout.flags,
    );
    params.bytes.writeUInt32LE(completions, paramsLayout.cqEntries);
    const address = params.addressOf(0, paramsLayout.bytes);
    this.fd = this.#libc.syscall(ringCall.setup, entries, address, 0, 0, 0, 0);
    if (this.fd < 0) {
      params.release();
      throw new SystemError('io_uring_setup', this.#libc.errno());
    }
    const read = (offset: number) => params.bytes.readUInt32LE(offset);
    const [sqCount, cqCount] = [read(paramsLayout.sqEntries), read(paramsLayout.cqEntries)];
    const [arrayAt, cqesAt] = [read(paramsLayout.sq.array), read(paramsLayout.cq.cqes)];
    const length = Math.max(arrayAt + sqCount * 4, cqesAt + cqCount * 16);
    this.#rings = mapMemory({ length, fd: this.fd, offset: mapOffset.rings }).int32;
    this.#sqes = mapMemory({ length: sqCount * 64, fd: this.fd, offset: mapOffset.sqes }).int32;
    this.#sqMask = sqCount - 1;
    this.#cqMask = cqCount - 1;
    this.#at = {
      sqTail: read(paramsLayout.sq.tail) >> 2,
      cqHead: read(paramsLayout.cq.head) >> 2,
      cqTail: read(paramsLayout.cq.tail) >> 2,
      cqes: cqesAt >> 2,
    };
    for (let i = 0; i < sqCount; i++) this.#rings[(arrayAt >> 2) + i] = i;
    params.release();
    this.#wait = mapMemory({ length: 64 });
    this.#waitWords = this.#wait.int32;
    this.#waitWords[2] = 8;
    writeAddress(this.#waitWords, 4, this.#wait.addressOf(32, 16));
    this.#waitAddress = this.#wait.addressOf(0, 24);
  }

  /** Requests wait for the next submission. */
  get hasUnsubmitted(): boolean {
    return this.#unsubmitted > 0;
  }

  /** Adds a request; the result is the handle for the `set` calls. Submits pending requests if the queue is full. */
  request(operation: number, fd: number, token: number): number {
    if (this.#unsubmitted > this.#sqMask) this.#makeRoom();
    const at = (this.#tail & this.#sqMask) << 4;
    const sqes = this.#sqes;
    this.#tail = (this.#tail + 1) | 0;
    this.#unsubmitted++;
    sqes[at] = operation;
    sqes[at + 1] = fd;
    // Clears the fields that any request may have set; word by word, because a call of `fill` costs more than all the
    // rest.
    sqes[at + 4] = 0;
    sqes[at + 5] = 0;
    sqes[at + 6] = 0;
    sqes[at + 7] = 0;
    sqes[at + 8] = token;
    sqes[at + 10] = 0;
    return at;
  }

  setBuffer(at: number, address: number, length: number): void {
    writeAddress(this.#sqes, at + 4, address);
    this.#sqes[at + 6] = length;
  }

  /** `ioprio` also carries the multishot bits. */
  setFlags(at: number, sqeFlags: number, ioprio: number): void {
    this.#sqes[at] = (this.#sqes[at] as number) | (sqeFlags << 8) | (ioprio << 16);
  }

  /** Flags of the operation, such as those of `send`. */
  setOperationFlags(at: number, flags: number): void {
    this.#sqes[at + 7] = flags;
  }

  setBufferGroup(at: number, group: number): void {
    this.#sqes[at + 10] = group;
  }

  /** Submits all requests and waits up to `ms` for the first completion. */
  submitAndWait(ms: number): void {
    if (ms <= 0) {
      this.#enter(0, enterFlag.getEvents, 0);
      return;
    }
    const words = this.#waitWords;
    const seconds = Math.floor(ms / 1000);
    words[8] = seconds;
    words[10] = (ms - seconds * 1000) * 1e6;
    this.#enter(1, enterFlag.getEvents | enterFlag.extArgument, this.#waitAddress);
  }

  /** Dispatches all completions and returns their number. */
  drainCompletions(onCompletion: OnCompletion): number {
    const { cqTail, cqHead, cqes } = this.#at;
    const rings = this.#rings;
    const tail = rings[cqTail] as number;
    const first = this.#head;
    let head = first;
    for (; head !== tail; head = (head + 1) | 0) {
      const at = cqes + ((head & this.#cqMask) << 2);
      onCompletion(rings[at] as number, rings[at + 2] as number, rings[at + 3] as number);
    }
    this.#head = head;
    rings[cqHead] = head;
    return (head - first) | 0;
  }

  register(what: number, address: number, count: number): void {
    if (this.#libc.syscall(ringCall.register, this.fd, what, address, count, 0, 0) < 0) {
      throw new SystemError('io_uring_register', this.#libc.errno());
    }
  }

  /** The memory stays mapped: the kernel may still access it briefly. */
  close(): void {
    this.#libc.close(this.fd);
  }

  #enter(minCompletions: number, flags: number, argument: number): void {
    this.#rings[this.#at.sqTail] = this.#tail;
    const argumentBytes = argument === 0 ? 0 : 24;
    const taken = this.#libc.syscall(
      ringCall.enter,
      this.fd,
      this.#unsubmitted,
      minCompletions,
      flags,
      argument,
      argumentBytes,
    );
    if (taken >= 0) {
      this.#unsubmitted -= taken;
      return;
    }
    const error = this.#libc.errno();
    // Requests that were not accepted are submitted with the next call.
    const isTemporary = error === timeExpired || error === interrupted || error === busy || error === again;
    if (!isTemporary) throw new SystemError('io_uring_enter', error);
  }

  #makeRoom(): void {
    this.#enter(0, 0, 0);
    if (this.#unsubmitted > this.#sqMask) throw new Error('the kernel takes no more requests');
  }
}

/** Returns which of the operations the kernel supports. */
export const supportedOperations = (ring: Ring, wanted: readonly number[]): ReadonlySet<number> => {
  const maxOperations = 256;
  const memory = mapMemory({ length: 16 + maxOperations * 8 });
  try {
    ring.register(registration.probe, memory.addressOf(0, 16 + maxOperations * 8), maxOperations);
    const isSupported = (operation: number) => (memory.bytes.readUInt16LE(16 + operation * 8 + 2) & 1) === 1;
    return new Set(wanted.filter((operation) => operation <= (memory.bytes[0] ?? 0) && isSupported(operation)));
  } finally {
    memory.release();
  }
};
