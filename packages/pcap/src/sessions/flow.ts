import type { Piece } from '../dissect/piece-list.ts';
import type { GapChunk } from './step-recorder.ts';

/** A stretch of the stream that was given up; a late packet may still fill it. */
export interface Hole {
  start: number;
  end: number;
  /** Whether data behind the hole has been delivered, so that the hole has a place among the steps. */
  isPlaced: boolean;
  chunk: GapChunk | null;
}

/** One direction of a session. */
export class Flow {
  readonly isA: boolean;
  packets = 0;
  /** Payload bytes delivered in order. */
  bytes = 0;
  /** Number of times this direction became the sender. */
  runs = 0;

  hasSynchronized = false;
  /** True once the first sequence number of the payload is known for certain. */
  isAnchored = false;
  initialSequence = 0;
  nextSequence = 0;
  /** Stream offset of `nextSequence`, without wrap-around. */
  position = 0;
  hasFinished = false;
  /** Where the FIN says the stream ends; known until the ports start over. */
  finalSequence = 0;
  isFinalKnown = false;
  /** Highest acknowledgement the other side has sent for this direction. */
  acknowledged = 0;
  isAcknowledged = false;

  retransmissions = 0;
  gaps = 0;
  missing = 0;
  /** Times the data went on at an unrelated sequence number. */
  jumps = 0;
  pending: Piece[] | null = null;
  holes: Hole[] | null = null;

  constructor(isA: boolean) {
    this.isA = isA;
  }
}
