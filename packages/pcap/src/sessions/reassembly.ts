import { insertPiece, type Piece } from '../dissect/piece-list.ts';
import type { Flow, Hole } from './flow.ts';
import type { PayloadSink } from './payload-sink.ts';

/** The largest window TCP can offer; a sequence number further off belongs to something else. */
const MAX_WINDOW = 2 ** 30;
/** How far before the first captured segment a reordered one may lie. */
const MAX_REORDERING = 2 ** 20;
const MAX_PENDING_PER_FLOW = 256;
const MAX_HOLES_PER_FLOW = 64;

export interface Segment {
  sequence: number;
  bytes: Uint8Array;
  start: number;
  captured: number;
  length: number;
}

/** Accepts a segment with payload; returns false if all of it was already known. */
export function acceptSegment(flow: Flow, segment: Segment, sink: PayloadSink): boolean {
  if (!flow.isAnchored) anchor(flow, segment.sequence);
  let ahead = (segment.sequence - flow.nextSequence) | 0;
  if (isUnrelated(flow, ahead, segment.length)) {
    jumpTo(flow, segment.sequence, sink);
    ahead = 0;
  }
  if (ahead === 0 && flow.pending === null) {
    advance(flow, segment.length);
    deliver(flow, segment, sink);
    return true;
  }
  return acceptOutOfOrder(flow, segment, flow.position + ahead, sink);
}

/** From here the payload of the flow starts at `sequence`. */
export function anchor(flow: Flow, sequence: number): void {
  flow.isAnchored = true;
  flow.nextSequence = sequence;
}

/** Too far away for a retransmission or a gap, or before the start of the stream. */
function isUnrelated(flow: Flow, ahead: number, length: number): boolean {
  if (Math.abs(ahead) > MAX_WINDOW) return true;
  const end = flow.position + ahead + length;
  // A keep-alive probe of an idle connection repeats the number of the SYN.
  if (end > 0 || (length === 1 && end === 0)) return false;
  return flow.hasSynchronized || -end > MAX_REORDERING;
}

/** Data is never dropped for its number: the stream goes on at `sequence`. */
function jumpTo(flow: Flow, sequence: number, sink: PayloadSink): void {
  while (flow.pending !== null) giveUpFirstGap(flow, sink);
  flow.jumps++;
  flow.isFinalKnown = false;
  flow.isAcknowledged = false;
  anchor(flow, sequence);
}

/** The peer has acknowledged beyond the received bytes of `flow`: the gap will not be filled in order. */
export function acceptAnswer(flow: Flow, acknowledgement: number, sink: PayloadSink): void {
  if (!flow.isAnchored) return;
  for (;;) {
    const lacking = (acknowledgement - flow.nextSequence) | 0;
    if (lacking <= 0 || lacking > MAX_WINDOW) return;
    const first = flow.pending?.[0];
    if (first === undefined || first.start >= flow.position + lacking) {
      // One number too many is a FIN that was not captured, not a byte.
      if (lacking > 1 || first !== undefined) openHole(flow, lacking, sink);
      return;
    }
    openHole(flow, first.start - flow.position, sink);
    drain(flow, sink);
  }
}

/** End of input: delivers pending bytes and counts missing ones. */
export function finishFlow(flow: Flow, sink: PayloadSink): void {
  while (flow.pending !== null) giveUpFirstGap(flow, sink);
  if (!flow.isAnchored) return;
  const lacking = flow.isFinalKnown ? (flow.finalSequence - flow.nextSequence) | 0 : 0;
  if (lacking > 0 && lacking <= MAX_WINDOW) openHole(flow, lacking, sink);
  if (flow.isAcknowledged && !flow.isFinalKnown) acceptAnswer(flow, flow.acknowledged, sink);
}

function acceptOutOfOrder(flow: Flow, segment: Segment, position: number, sink: PayloadSink): boolean {
  const end = position + segment.length;
  let isNew = false;
  let skipped = 0;
  if (position < flow.position) {
    isNew = fillHoles(flow, segment, position, sink);
    // A keep-alive probe repeats one old byte and is no retransmission.
    if (!isNew && !(segment.length === 1 && position === flow.position - 1)) flow.retransmissions++;
    if (end <= flow.position) return isNew;
    skipped = flow.position - position;
  }
  const captured = Math.max(0, segment.captured - skipped);
  const data = sink.needsBytes(flow)
    ? segment.bytes.subarray(segment.start + skipped, segment.start + skipped + captured)
    : null;
  const added = hold(flow, { start: position + skipped, end, captured, data }, sink);
  if (added === 0 && skipped === 0) flow.retransmissions++;
  drain(flow, sink);
  while (flow.pending !== null && (flow.pending.length > MAX_PENDING_PER_FLOW || sink.isFull))
    giveUpFirstGap(flow, sink);
  return isNew || added > 0;
}

function hold(flow: Flow, piece: Piece, sink: PayloadSink): number {
  flow.pending ??= [];
  const before = flow.pending.length;
  const added = insertPiece(flow.pending, piece);
  sink.pendingPieces += flow.pending.length - before;
  if (piece.data !== null) sink.pendingBytes += added;
  return added;
}

function drain(flow: Flow, sink: PayloadSink): void {
  while (flow.pending !== null) {
    const first = flow.pending[0];
    if (first === undefined) {
      flow.pending = null;
    } else {
      if (first.start !== flow.position) return;
      flow.pending.shift();
      sink.pendingPieces--;
      if (first.data !== null) sink.pendingBytes -= first.end - first.start;
      advance(flow, first.end - first.start);
      deliverPiece(flow, first, sink);
    }
  }
}

function giveUpFirstGap(flow: Flow, sink: PayloadSink): void {
  const first = flow.pending?.[0];
  if (first !== undefined) openHole(flow, first.start - flow.position, sink);
  drain(flow, sink);
}

function deliver(flow: Flow, segment: Segment, sink: PayloadSink): void {
  sink.data(flow, segment.bytes, segment.start, segment.captured);
  if (segment.captured < segment.length) sink.cut(flow, segment.length - segment.captured);
}

function deliverPiece(flow: Flow, piece: Piece, sink: PayloadSink): void {
  sink.data(flow, piece.data, 0, piece.captured);
  const cut = piece.end - piece.start - piece.captured;
  if (cut > 0) sink.cut(flow, cut);
}

function advance(flow: Flow, count: number): void {
  flow.nextSequence = (flow.nextSequence + count) | 0;
  flow.position += count;
}

function openHole(flow: Flow, count: number, sink: PayloadSink): void {
  if (count <= 0) return;
  const hole: Hole = { start: flow.position, end: flow.position + count, isPlaced: false, chunk: null };
  flow.missing += count;
  flow.gaps++;
  sink.hole(flow, hole);
  advance(flow, count);
  flow.holes ??= [];
  if (flow.holes.length >= MAX_HOLES_PER_FLOW || !sink.canOpenHole) return;
  flow.holes.push(hole);
  sink.openHoles++;
}

/** Late bytes of a segment that starts before the present position; true when some of them filled a hole. */
function fillHoles(flow: Flow, segment: Segment, position: number, sink: PayloadSink): boolean {
  if (flow.holes === null) return false;
  let isNew = false;
  for (const hole of [...flow.holes]) {
    const from = Math.max(hole.start, position);
    const to = Math.min(hole.end, position + segment.captured);
    if (to <= from) continue;
    const start = segment.start + (from - position);
    fillHole(flow, hole, from, segment.bytes.subarray(start, start + to - from), sink);
    isNew = true;
  }
  return isNew;
}

function fillHole(flow: Flow, hole: Hole, from: number, bytes: Uint8Array, sink: PayloadSink): void {
  const holes = flow.holes as Hole[];
  const index = holes.indexOf(hole);
  const isSwitchable = !hole.isPlaced;
  const rest = isSwitchable ? splitHole(hole, from, bytes.length) : sink.fill(flow, hole, from - hole.start, bytes);
  flow.missing -= bytes.length;
  const before = rest.before.end > rest.before.start ? [rest.before] : [];
  // Late bytes in small parts must not grow the list without end: the rest of the hole then stays missing.
  const isSplittable = holes.length < MAX_HOLES_PER_FLOW || before.length === 0;
  const behind = isSplittable && rest.behind.end > rest.behind.start ? [rest.behind] : [];
  if (rest.before.end === rest.before.start && rest.behind.end === rest.behind.start) flow.gaps--;
  sink.openHoles += before.length + behind.length - 1;
  holes.splice(index, 1, ...before);
  // An unplaced hole has nothing behind it yet: its bytes are simply next.
  if (isSwitchable) sink.data(flow, bytes, 0, bytes.length);
  holes.splice(index + before.length, 0, ...behind);
}

function splitHole(hole: Hole, from: number, count: number): { before: Hole; behind: Hole } {
  return { before: { ...hole, end: from }, behind: { ...hole, start: from + count } };
}
