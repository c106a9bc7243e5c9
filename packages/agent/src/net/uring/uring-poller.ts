import { performance } from 'node:perf_hooks';
import { kernelEventLoop, type Poller } from '../loop/kernel-event-loop.ts';
import { type Flushable, PreWaitTasks } from '../loop/pre-wait-tasks.ts';
import type { FlushScheduler } from '../transport/socket-connection.ts';
import { BufferRing } from './buffer-ring.ts';
import { FileTable } from './file-table.ts';
import { Ring } from './ring.ts';
import { opcode, pollEvent } from './ring-layout.ts';

/** Kinds of requests; a token combines the slot of the handler and the kind. */
export const kind = {
  connect: 0,
  recv: 1,
  send: 2,
  waitingSend: 3,
  accept: 4,
  poll: 5,
  ignored: 6,
} as const;
const kindBits = 4;

/** Receives the completions of its requests. */
export interface CompletionHandler {
  complete(requestKind: number, result: number, flags: number): void;
}

/** Something that keeps memory until the kernel has read it. */
interface Settling {
  settle(): void;
}

/** The ring of this thread with its buffers and registered files. */
export class UringPoller implements Poller, FlushScheduler {
  readonly ring = new Ring();
  readonly buffers = {
    // A TLS record fits into one. Short messages touch the first lines of a buffer only.
    small: new BufferRing(this.ring, { group: 0, count: 512, first: 8, bytes: 20_480 }),
    large: new BufferRing(this.ring, { group: 1, count: 8, first: 8, bytes: 262_144 }),
  } as const;
  readonly files = new FileTable(this.ring);
  readonly #handlers: (CompletionHandler | undefined)[] = [];
  readonly #free: number[] = [];
  /** Slots freed during dispatch: they are reused only after it, so that late completions do not reach a new owner. */
  #freed: number[] = [];
  readonly #tasks = new PreWaitTasks();
  /** Those that have sent something in this iteration. */
  readonly #settling: Settling[] = [];
  now = performance.now();

  get fd(): number {
    return this.ring.fd;
  }

  wait(ms: number): boolean {
    this.#tasks.run();
    this.ring.submitAndWait(this.#tasks.isEmpty ? ms : 0);
    this.now = performance.now();
    const isSubmitted = !this.ring.hasUnsubmitted;
    const freed = this.#freed;
    this.#freed = [];
    const count = this.ring.drainCompletions(this.#complete);
    for (const slot of freed) this.#free.push(slot);
    if (isSubmitted) this.#settle();
    this.buffers.small.publish();
    this.buffers.large.publish();
    return count > 0;
  }

  watch(fd: number, onReadable: () => void): void {
    const arm = (slot: number) => {
      const at = this.ring.request(opcode.pollAdd, fd, this.tokenOf(slot, kind.poll));
      this.ring.setOperationFlags(at, pollEvent.in);
    };
    const slot = this.takeSlot({
      complete: () => {
        onReadable();
        arm(slot);
      },
    });
    arm(slot);
  }

  scheduleFlush(target: Flushable): void {
    this.#tasks.scheduleFlush(target);
  }

  defer(action: () => void): void {
    this.#tasks.defer(action);
  }

  /** Calls `settle` once the kernel has executed the requests made until now, and their failures were reported. */
  settleLater(target: Settling): void {
    this.#settling.push(target);
  }

  takeSlot(handler: CompletionHandler): number {
    const slot = this.#free.pop() ?? this.#handlers.length;
    this.#handlers[slot] = handler;
    return slot;
  }

  freeSlot(slot: number): void {
    this.#handlers[slot] = undefined;
    this.#freed.push(slot);
  }

  tokenOf(slot: number, requestKind: number): number {
    return (slot << kindBits) | requestKind;
  }

  #settle(): void {
    const settling = this.#settling;
    for (let index = 0; index < settling.length; index++) (settling[index] as Settling).settle();
    settling.length = 0;
  }

  readonly #complete = (token: number, result: number, flags: number): void => {
    this.#handlers[token >> kindBits]?.complete(token & ((1 << kindBits) - 1), result, flags);
  };
}

let poller: UringPoller | undefined;

/** Returns the poller of this thread. It lives as long as the thread, because the kernel may access its memory. */
export const uringPoller = (): UringPoller => {
  if (poller === undefined) {
    poller = new UringPoller();
    kernelEventLoop.add(poller);
  }
  return poller;
};
