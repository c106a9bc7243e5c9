import { performance } from 'node:perf_hooks';
import { SystemError } from '../kernel/errno.ts';
import { requireLibc } from '../kernel/libc.ts';
import { mapMemory } from '../kernel/memory.ts';
import { kernelEventLoop, type Poller } from '../loop/kernel-event-loop.ts';
import { type Flushable, PreWaitTasks } from '../loop/pre-wait-tasks.ts';
import type { FlushScheduler } from '../transport/socket-connection.ts';

export const epollEvent = { in: 1, out: 4, error: 8, hangUp: 0x10, readHangUp: 0x2000, edge: 0x8000_0000 } as const;

const isPacked = process.arch === 'x64';
// On x64 `struct epoll_event` is packed.
const eventWords = isPacked ? 3 : 4;
const dataWord = isPacked ? 1 : 2;
const maxEvents = 512;
// Several connections are read before they all answer: the kernel code of each step stays in the CPU cache. Few enough
// that no answer waits for long.
const eventsPerFlush = 16;
const call = isPacked ? { create: 291, control: 233, wait2: 441 } : { create: 20, control: 21, wait2: 441 };
const control = { add: 1, remove: 2 } as const;
const closeOnExec = 0x80000;
const interrupted = 4;

/** Called with the events a descriptor is ready for. */
export interface Watcher {
  ready(events: number): void;
}

/** The epoll instance of this thread. */
export class EpollPoller implements Poller, FlushScheduler {
  readonly fd: number;
  readonly #libc = requireLibc();
  readonly #watchers: (Watcher | undefined)[] = [];
  readonly #memory = mapMemory({ length: maxEvents * eventWords * 4 + 64 });
  readonly #words = this.#memory.int32;
  readonly #eventsAt = this.#memory.addressOf(0, maxEvents * eventWords * 4);
  readonly #timeWord = (maxEvents * eventWords) as number;
  readonly #timeAt = this.#memory.addressOf(maxEvents * eventWords * 4, 16);
  readonly #tasks = new PreWaitTasks();
  now = performance.now();

  constructor() {
    this.fd = this.#libc.syscall(call.create, closeOnExec, 0, 0, 0, 0, 0);
    if (this.fd < 0) throw new SystemError('epoll_create1', this.#libc.errno());
  }

  wait(ms: number): boolean {
    this.#tasks.run();
    const count = this.#ready(this.#tasks.isEmpty ? ms : 0);
    this.now = performance.now();
    for (let index = 0; index < count; index++) {
      const at = index * eventWords;
      const watcher = this.#watchers[this.#words[at + dataWord] as number];
      watcher?.ready(this.#words[at] as number);
      if (index % eventsPerFlush === eventsPerFlush - 1) this.#tasks.flush();
    }
    this.#tasks.flush();
    return count > 0;
  }

  watch(fd: number, onReadable: () => void): void {
    this.add(fd, epollEvent.in, { ready: onReadable });
  }

  add(fd: number, events: number, watcher: Watcher): void {
    this.#watchers[fd] = watcher;
    const words = this.#words;
    words[0] = events;
    words[dataWord] = fd;
    words[dataWord + 1] = 0;
    if (this.#libc.syscall(call.control, this.fd, control.add, fd, this.#eventsAt, 0, 0) < 0) {
      this.#watchers[fd] = undefined;
      throw new SystemError('epoll_ctl', this.#libc.errno());
    }
  }

  /** Closing the descriptor removes it from the kernel's list. */
  forget(fd: number): void {
    this.#watchers[fd] = undefined;
  }

  scheduleFlush(target: Flushable): void {
    this.#tasks.scheduleFlush(target);
  }

  defer(action: () => void): void {
    this.#tasks.defer(action);
  }

  #ready(ms: number): number {
    const words = this.#words;
    const seconds = Math.floor(ms / 1000);
    words[this.#timeWord] = seconds;
    words[this.#timeWord + 2] = (ms - seconds * 1000) * 1e6;
    const count = this.#libc.syscall(call.wait2, this.fd, this.#eventsAt, maxEvents, this.#timeAt, 0, 0);
    if (count >= 0) return count;
    const error = this.#libc.errno();
    if (error !== interrupted) throw new SystemError('epoll_pwait2', error);
    return 0;
  }
}

let poller: EpollPoller | undefined;

/** Returns the poller of this thread. */
export const epollPoller = (): EpollPoller => {
  if (poller === undefined) {
    poller = new EpollPoller();
    kernelEventLoop.add(poller);
  }
  return poller;
};
