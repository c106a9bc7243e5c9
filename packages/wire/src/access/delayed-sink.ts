import { copyOf, createMemory, type Memory } from '../bytes/memory.ts';
import type { FrameSink } from '../host-group/hosts.ts';

const maxFrame = 10_000;
/** Answers that wait; more are lost, as in a server that is too slow. */
const maxWaiting = 100_000;

interface DelayedFrame {
  readonly dueMs: number;
  readonly frame: Uint8Array;
}

/** Sends frames a fixed time later. */
export class DelayedSink implements FrameSink {
  readonly memory: Memory = createMemory(maxFrame);
  readonly #sink: FrameSink;
  readonly #delayMs: number;
  readonly #waiting: DelayedFrame[] = [];
  #first = 0;
  #nowMs = 0;

  constructor(sink: FrameSink, delayMs: number) {
    this.#sink = sink;
    this.#delayMs = delayMs;
  }

  get mtu(): number {
    return this.#sink.mtu;
  }

  begin(length: number): number {
    return length > maxFrame || this.#waiting.length - this.#first >= maxWaiting ? -1 : 0;
  }

  commit(offset: number, length: number): void {
    const frame = copyOf(this.memory.bytes, offset, offset + length);
    this.#waiting.push({ dueMs: this.#nowMs + this.#delayMs, frame });
  }

  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    while (this.#first < this.#waiting.length) {
      const { dueMs, frame } = this.#waiting[this.#first] as DelayedFrame;
      if (dueMs > nowMs) break;
      this.#first++;
      const at = this.#sink.begin(frame.length, 0);
      if (at < 0) continue;
      this.#sink.memory.bytes.set(frame, at);
      this.#sink.commit(at, frame.length);
    }
    if (this.#first < 1024 && this.#first < this.#waiting.length) return;
    this.#waiting.splice(0, this.#first);
    this.#first = 0;
  }
}
