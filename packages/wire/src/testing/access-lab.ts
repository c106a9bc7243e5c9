import { copyOf, createMemory, Memory } from '../bytes/memory.ts';
import type { FrameSink } from '../host-group/hosts.ts';
import { createRandom } from './random.ts';

interface LabEnd {
  receive(memory: Memory, start: number, end: number): void;
  advance(nowMs: number): void;
}

/** A wire between two ends of access protocols, in virtual time, which can lose, repeat and reorder frames. */
export class AccessLab {
  nowMs = 0;
  lossPct = 0;
  duplicatePct = 0;
  /** Frames wait up to this long, so that some overtake others. */
  jitterMs = 0;
  /** Changes a frame before it arrives; undefined: it is lost. */
  tamper: ((frame: Uint8Array, from: 0 | 1) => Uint8Array | undefined) | undefined;
  keepsFrames = false;
  readonly frames: Uint8Array[] = [];
  readonly random: () => number;
  readonly ends: [LabEnd | undefined, LabEnd | undefined] = [undefined, undefined];
  #waiting: { dueMs: number; frame: Uint8Array; to: 0 | 1 }[] = [];

  constructor(seed = 7) {
    this.random = createRandom(seed);
  }

  /** The sink of one end. */
  sink(from: 0 | 1, mtu = 1500): FrameSink {
    const memory = createMemory(4096);
    return {
      memory,
      mtu,
      begin: (length) => (length > 4000 ? -1 : 16),
      commit: (offset, length) => this.#send(copyOf(memory.bytes, offset, offset + length), from),
    };
  }

  /** Runs in steps of a millisecond until the time is over or the work is done. */
  run(maxMs: number, isDone: () => boolean = () => false, stepMs = 1): boolean {
    for (const end = this.nowMs + maxMs; this.nowMs < end; ) {
      if (isDone()) return true;
      this.nowMs += stepMs;
      for (const one of this.ends) one?.advance(this.nowMs);
      const due = this.#waiting.filter(({ dueMs }) => dueMs <= this.nowMs);
      this.#waiting = this.#waiting.filter(({ dueMs }) => dueMs > this.nowMs);
      for (const { frame, to } of due) this.ends[to]?.receive(new Memory(frame), 0, frame.length);
    }
    return isDone();
  }

  #send(frame: Uint8Array, from: 0 | 1): void {
    if (this.keepsFrames) this.frames.push(frame);
    const changed = this.tamper === undefined ? frame : this.tamper(frame, from);
    if (changed === undefined || this.#isIn(this.lossPct)) return;
    for (let copies = this.#isIn(this.duplicatePct) ? 2 : 1; copies > 0; copies--) {
      const dueMs = this.nowMs + this.random() * this.jitterMs;
      this.#waiting.push({ dueMs, frame: changed, to: from === 0 ? 1 : 0 });
    }
  }

  #isIn(pct: number): boolean {
    return pct > 0 && this.random() * 100 < pct;
  }
}
