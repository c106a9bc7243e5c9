import { copyOf, createMemory, type Memory } from '../bytes/memory.ts';
import type { FrameSink } from '../host-group/hosts.ts';

const maxFrame = 10_000;
/** Frames that wait for their time; more are refused. */
const maxWaiting = 65_536;

/** Sends frames in bursts: so many at once, and the next not before an interval is over. */
export class PacedSink implements FrameSink {
  readonly mtu: number;
  readonly #sink: FrameSink;
  readonly #burst: number;
  readonly #intervalMs: number;
  readonly #scratch: Memory = createMemory(maxFrame);
  readonly #waiting: Uint8Array[] = [];
  #first = 0;
  #left: number;
  #nextMs = 0;
  #isDirect = false;
  #path = 0;
  /** Nothing is sent while the link is down. */
  isUp = true;

  constructor(sink: FrameSink, options: { readonly burst: number; readonly intervalMs: number; readonly mtu: number }) {
    this.#sink = sink;
    this.#burst = options.burst;
    this.#intervalMs = options.intervalMs;
    this.#left = options.burst;
    this.mtu = Math.min(sink.mtu, options.mtu);
  }

  get memory(): Memory {
    return this.#isDirect ? this.#sink.memory : this.#scratch;
  }

  begin(length: number, path: number): number {
    this.#path = path;
    this.#isDirect = this.isUp && this.#left > 0 && this.#first === this.#waiting.length;
    if (this.#isDirect) return this.#sink.begin(length, path);
    return length > maxFrame || this.#waiting.length - this.#first >= maxWaiting ? -1 : 0;
  }

  commit(offset: number, length: number): void {
    if (!this.isUp) return;
    if (this.#isDirect) {
      this.#left--;
      this.#sink.commit(offset, length);
    } else this.#waiting.push(copyOf(this.#scratch.bytes, offset, offset + length));
  }

  advance(nowMs: number): void {
    if (!this.isUp) {
      this.#waiting.length = 0;
      this.#first = 0;
      return;
    }
    if (nowMs < this.#nextMs) return;
    // Intervals that passed between two calls have had their bursts.
    const intervals = Math.min(
      Math.floor((nowMs - this.#nextMs) / this.#intervalMs) + 1,
      Math.ceil(10 / this.#intervalMs),
    );
    this.#left = Math.min(this.#burst * intervals, Math.max(this.#burst, maxWaiting));
    this.#nextMs = nowMs + this.#intervalMs;
    while (this.#left > 0 && this.#first < this.#waiting.length) {
      const frame = this.#waiting[this.#first] as Uint8Array;
      const at = this.#sink.begin(frame.length, this.#path);
      if (at < 0) break;
      this.#sink.memory.bytes.set(frame, at);
      this.#sink.commit(at, frame.length);
      this.#first++;
      this.#left--;
    }
    if (this.#first < 1024 && this.#first < this.#waiting.length) return;
    this.#waiting.splice(0, this.#first);
    this.#first = 0;
  }
}
