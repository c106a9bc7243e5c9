import { createHash, type Hash, hash } from 'node:crypto';
import { PcapError } from '../pcap-error.ts';

const STEP_COST_BYTES = 160;
const CHUNK_COST_BYTES = 96;

/** Part of a step to keep: all steps of the session or one of them, and which bytes of it. */
export interface StepWindow {
  readonly stepIdx?: number;
  readonly offset: number;
  readonly length: number;
}

export interface RecordOptions {
  readonly keepPayload: boolean;
  readonly window: StepWindow | undefined;
  /** Hash payload as it passes, for steps whose bytes are not all kept. */
  readonly hashes: boolean;
  readonly fillGaps: boolean;
}

/** Memory limit shared by all recorders of one analysis. */
export class KeepBudget {
  readonly limit: number;
  #left: number;

  constructor(limit: number) {
    this.limit = limit;
    this.#left = limit;
  }

  take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw payloadLimit(this.limit);
  }
}

interface Chunk {
  length: number;
  /** Null when the bytes were not kept, or never captured. */
  readonly data: Uint8Array | null;
  readonly isGap: boolean;
}

export interface GapChunk extends Chunk {
  readonly step: StepRecord;
}

export interface StepRecord {
  readonly isA: boolean;
  readonly startMs: number;
  endMs: number;
  length: number;
  readonly chunks: Chunk[];
  hasGap: boolean;
  hash: Hash | null;
  sha256: string;
}

/** The steps of one session, with as much of their payload as was asked for. */
export class StepRecorder {
  readonly steps: StepRecord[] = [];
  readonly #options: RecordOptions;
  readonly #budget: KeepBudget;

  constructor(options: RecordOptions, budget: KeepBudget) {
    this.#options = options;
    this.#budget = budget;
  }

  begin(isA: boolean, nowMs: number): void {
    this.finish();
    this.#budget.take(STEP_COST_BYTES);
    const hash = this.#options.hashes ? createHash('sha256') : null;
    this.steps.push({ isA, startMs: nowMs, endMs: nowMs, length: 0, chunks: [], hasGap: false, hash, sha256: '' });
  }

  /** Adds payload to the step begun last. */
  data(bytes: Uint8Array | null, start: number, count: number, nowMs: number): void {
    const step = this.#current();
    step.endMs = nowMs;
    if (bytes !== null) step.hash?.update(bytes.subarray(start, start + count));
    const [from, to] = this.#keptRange(step, count);
    this.#skip(step, bytes === null ? to : from);
    if (bytes !== null && to > from) step.chunks.push(this.#keep(bytes, start + from, to - from));
    this.#skip(step, count - to);
    step.length += count;
  }

  /** Adds bytes that are known to have passed but were never captured. */
  gap(count: number, nowMs: number): GapChunk {
    const step = this.#current();
    step.endMs = nowMs;
    step.hasGap = true;
    // Zeros cost no memory yet, but time to hash and to send: one bogus number can ask for a gigabyte of them.
    this.#budget.take(CHUNK_COST_BYTES + (this.#options.fillGaps ? count : 0));
    const chunk = { length: count, data: null, isGap: true, step };
    step.chunks.push(chunk);
    if (this.#options.fillGaps) {
      step.length += count;
      updateWithZeros(step.hash, count);
    } else {
      // What comes later may still change the order of the bytes.
      step.hash = null;
    }
    return chunk;
  }

  /** Puts late bytes into a gap, `at` bytes behind its start; returns what is left of the gap before and behind. */
  fill(gap: GapChunk, at: number, bytes: Uint8Array): { before: GapChunk; behind: GapChunk } {
    const { step } = gap;
    const before = { ...gap, length: at };
    const behind = { ...gap, length: gap.length - at - bytes.length };
    const kept = this.#options.keepPayload
      ? this.#keep(bytes, 0, bytes.length)
      : { length: bytes.length, data: null, isGap: false };
    step.chunks.splice(step.chunks.indexOf(gap), 1, before, kept, behind);
    step.hash = null;
    if (!this.#options.fillGaps) step.length += bytes.length;
    return { before, behind };
  }

  /** Closes the hash of the step begun last. */
  finish(): void {
    const step = this.steps.at(-1);
    if (step === undefined || step.hash === null) return;
    step.sha256 = step.hash.digest('hex');
    step.hash = null;
  }

  bytesOf(step: StepRecord, from: number, to: number): Uint8Array {
    if (to - from > this.#budget.limit) throw payloadLimit(this.#budget.limit);
    const result = new Uint8Array(Math.max(0, to - from));
    let position = 0;
    for (const chunk of step.chunks) {
      if (chunk.isGap && !this.#options.fillGaps) continue;
      const [start, end] = [Math.max(position, from), Math.min(position + chunk.length, to)];
      if (end > start && chunk.data !== null)
        result.set(chunk.data.subarray(start - position, end - position), start - from);
      else if (end > start && !chunk.isGap) throw new PcapError('NOT_KEPT', 'This part of the payload was not kept.');
      position += chunk.length;
    }
    return result;
  }

  /** Empty when the step was neither kept whole nor hashed as it passed. */
  sha256Of(step: StepRecord): string {
    const isWhole = step.chunks.every((chunk) => chunk.data !== null || chunk.isGap);
    if (step.sha256 !== '' || !this.#options.keepPayload || !isWhole) return step.sha256;
    return hash('sha256', this.bytesOf(step, 0, step.length), 'hex');
  }

  #current(): StepRecord {
    return this.steps.at(-1) as StepRecord;
  }

  #keptRange(step: StepRecord, count: number): [number, number] {
    const { keepPayload, window } = this.#options;
    if (!keepPayload) return [count, count];
    if (window === undefined) return [0, count];
    if (window.stepIdx !== undefined && window.stepIdx !== this.steps.length - 1) return [count, count];
    // A gap that is filled later moves what lies behind it towards the window.
    const from = step.hasGap ? 0 : Math.min(count, Math.max(0, window.offset - step.length));
    const to = Math.min(count, Math.max(from, window.offset + window.length - step.length));
    return [from, to];
  }

  #keep(bytes: Uint8Array, start: number, count: number): Chunk {
    this.#budget.take(CHUNK_COST_BYTES + count);
    return { length: count, data: bytes.slice(start, start + count), isGap: false };
  }

  #skip(step: StepRecord, count: number): void {
    if (count === 0) return;
    const last = step.chunks.at(-1);
    if (last !== undefined && last.data === null && !last.isGap) {
      last.length += count;
      return;
    }
    this.#budget.take(CHUNK_COST_BYTES);
    step.chunks.push({ length: count, data: null, isGap: false });
  }
}

const ZEROS = new Uint8Array(65_536);

function updateWithZeros(digest: Hash | null, count: number): void {
  if (digest === null) return;
  for (let left = count; left > 0; left -= ZEROS.length) digest.update(ZEROS.subarray(0, Math.min(left, ZEROS.length)));
}

function payloadLimit(limit: number): PcapError {
  return new PcapError(
    'PAYLOAD_LIMIT',
    `The selected steps need more than ${limit} bytes of memory; select fewer sessions or a part of a step.`,
  );
}
