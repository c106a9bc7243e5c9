import { requireLibc } from '../kernel/libc.ts';
import { scratch } from '../kernel/memory.ts';

const clockGetTime = process.arch === 'x64' ? 228 : 113;
const realTime = 0;
const validMs = 1000;

/** The clock of the kernel's receive timestamps, mostly read without a system call. */
export class WallClock {
  #seconds = 0;
  #restMs = 0;
  #readAt = Number.NEGATIVE_INFINITY;
  seconds = 0;
  nanoseconds = 0;

  /** Sets `seconds` and `nanoseconds` to the wall-clock time of `now`, which is on the `performance.now` clock. */
  read(now: number): void {
    if (now - this.#readAt > validMs) this.#adjust();
    const ms = this.#restMs + now - this.#readAt;
    const whole = Math.floor(ms / 1000);
    this.seconds = this.#seconds + whole;
    this.nanoseconds = (ms - whole * 1000) * 1e6;
  }

  #adjust(): void {
    const memory = scratch();
    const before = performance.now();
    requireLibc().syscall(clockGetTime, realTime, memory.addressOf(0, 16), 0, 0, 0, 0);
    this.#readAt = (before + performance.now()) / 2;
    this.#seconds = Number(memory.bytes.readBigInt64LE(0));
    this.#restMs = Number(memory.bytes.readBigInt64LE(8)) / 1e6;
  }
}
