import { performance } from 'node:perf_hooks';
import { turnLoop, type Waiter } from '../loop/kernel-event-loop.ts';
import { Errands, type Flushable } from '../loop/pre-wait-tasks.ts';
import type { Flusher } from '../transport/socket-connection.ts';
import { BufferRing } from './buffer-ring.ts';
import { FileTable } from './file-table.ts';
import { Ring } from './ring.ts';
import { opcode, pollEvent } from './ring-layout.ts';

/** Kinds of requests; a token is the slot of who made it and the kind. */
export const kind = {
  connect: 0,
  recv: 1,
  send: 2,
  waitingSend: 3,
  accept: 4,
  poll: 5,
  quiet: 6,
} as const;
const kindBits = 4;

/** Who makes requests is told how they end. */
export interface Requester {
  complete(requestKind: number, result: number, flags: number): void;
}

/** The ring of this thread with everything that lives on it. */
export class UringPoller implements Waiter, Flusher {
  readonly ring = new Ring();
  readonly buffers = {
    small: new BufferRing(this.ring, { group: 0, count: 512, first: 64, bytes: 4096 }),
    large: new BufferRing(this.ring, { group: 1, count: 8, first: 8, bytes: 262_144 }),
  } as const;
  readonly files = new FileTable(this.ring);
  readonly #requesters: (Requester | undefined)[] = [];
  readonly #free: number[] = [];
  /** Slots given up while events are handled: late events must not meet a new owner. */
  #freed: number[] = [];
  readonly #errands = new Errands();
  now = performance.now();

  get fd(): number {
    return this.ring.fd;
  }

  wait(ms: number): boolean {
    this.#errands.run();
    this.ring.submitAndWait(this.#errands.isNone ? ms : 0);
    this.now = performance.now();
    const freed = this.#freed;
    this.#freed = [];
    const count = this.ring.harvest(this.#complete);
    for (const slot of freed) this.#free.push(slot);
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

  flushLater(what: Flushable): void {
    this.#errands.flushLater(what);
  }

  soon(action: () => void): void {
    this.#errands.soon(action);
  }

  takeSlot(requester: Requester): number {
    const slot = this.#free.pop() ?? this.#requesters.length;
    this.#requesters[slot] = requester;
    return slot;
  }

  freeSlot(slot: number): void {
    this.#requesters[slot] = undefined;
    this.#freed.push(slot);
  }

  tokenOf(slot: number, requestKind: number): number {
    return (slot << kindBits) | requestKind;
  }

  readonly #complete = (token: number, result: number, flags: number): void => {
    this.#requesters[token >> kindBits]?.complete(token & ((1 << kindBits) - 1), result, flags);
  };
}

let poller: UringPoller | undefined;

/** One for each thread; it stays until the thread ends, since its memory may not go before it. */
export const uringPoller = (): UringPoller => {
  if (poller === undefined) {
    poller = new UringPoller();
    turnLoop.add(poller);
  }
  return poller;
};
