import type { Flow, Hole } from './flow.ts';
import { AppDetector, MAX_HEAD_BYTES } from './identify/app-detector.ts';
import type { Session } from './session.ts';

const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const MAX_PENDING_PIECES = 262_144;
const MAX_HOLES = 100_000;

/** Consumes the payload of all sessions in stream order: counts exchanges, detects protocols, records steps. */
export class PayloadSink {
  readonly fillGaps: boolean;
  /** Bound of out-of-order bytes over all sessions, so that a hostile capture cannot exhaust memory. */
  pendingBytes = 0;
  pendingPieces = 0;
  openHoles = 0;
  readonly #detector = new AppDetector();
  #session!: Session;
  #nowMs = 0;

  constructor(fillGaps: boolean) {
    this.fillGaps = fillGaps;
  }

  get isFull(): boolean {
    return this.pendingBytes > MAX_PENDING_BYTES || this.pendingPieces > MAX_PENDING_PIECES;
  }

  get canOpenHole(): boolean {
    return this.openHoles < MAX_HOLES;
  }

  select(session: Session, nowMs: number): void {
    this.#session = session;
    this.#nowMs = nowMs;
  }

  /** Whether bytes of the present session will be looked at, rather than only counted. */
  needsBytes(flow: Flow): boolean {
    const session = this.#session;
    return (
      session.recorder !== null || (session.unseen !== 0 && flow.position < MAX_HEAD_BYTES) || session.head !== null
    );
  }

  data(flow: Flow, bytes: Uint8Array | null, start: number, count: number): void {
    if (count === 0) return;
    const session = this.#session;
    this.#takeWord(flow);
    if (flow.holes !== null) this.#insertHoles(flow.holes);
    flow.bytes += count;
    if (session.unseen !== 0 || session.head !== null) this.#detector.look(session, flow, bytes, start, count);
    session.recorder?.data(bytes, start, count, this.#nowMs);
  }

  datagram(flow: Flow, bytes: Uint8Array, start: number, count: number): void {
    const session = this.#session;
    const side = flow.isA ? 1 : 2;
    if (session.lastSide !== side) this.#switchTo(flow, side);
    flow.bytes += count;
    session.recorder?.begin(flow.isA, this.#nowMs);
    if (count === 0) return;
    if (session.unseen !== 0) this.#detector.look(session, flow, bytes, start, count);
    session.recorder?.data(bytes, start, count, this.#nowMs);
  }

  /** Bytes the file does not hold and never will: cut by the snap length. */
  cut(flow: Flow, count: number): void {
    flow.missing += count;
    flow.gaps++;
    if (this.fillGaps) {
      if (this.#session.isTcp) this.#takeWord(flow);
      flow.bytes += count;
    }
    if (this.fillGaps || this.#session.lastSide === (flow.isA ? 1 : 2)) this.#session.recorder?.gap(count, this.#nowMs);
  }

  /** A hole that is filled with zeros takes its place at once, another when data behind it comes. */
  hole(flow: Flow, hole: Hole): void {
    if (!this.fillGaps) return;
    this.#takeWord(flow);
    flow.bytes += hole.end - hole.start;
    hole.isPlaced = true;
    hole.chunk = this.#session.recorder?.gap(hole.end - hole.start, this.#nowMs) ?? null;
  }

  /** Late bytes for a placed hole: the step they belong to grows, or gets them instead of zeros. */
  fill(flow: Flow, hole: Hole, at: number, bytes: Uint8Array): { before: Hole; behind: Hole } {
    if (!this.fillGaps) flow.bytes += bytes.length;
    const rest =
      hole.chunk === null ? { before: null, behind: null } : this.#session.recorder?.fill(hole.chunk, at, bytes);
    return {
      before: { ...hole, end: hole.start + at, chunk: rest?.before ?? null },
      behind: { ...hole, start: hole.start + at + bytes.length, chunk: rest?.behind ?? null },
    };
  }

  #insertHoles(holes: readonly Hole[]): void {
    for (const hole of holes) {
      if (hole.isPlaced) continue;
      hole.isPlaced = true;
      hole.chunk = this.#session.recorder?.gap(hole.end - hole.start, this.#nowMs) ?? null;
    }
  }

  #takeWord(flow: Flow): void {
    const side = flow.isA ? 1 : 2;
    if (this.#session.lastSide === side) return;
    this.#switchTo(flow, side);
    this.#session.recorder?.begin(flow.isA, this.#nowMs);
  }

  #switchTo(flow: Flow, side: number): void {
    const session = this.#session;
    if (session.firstSide === 0) session.firstSide = side;
    session.lastSide = side;
    flow.runs++;
  }
}
