import type { Memory } from '../../bytes/memory.ts';
import { tcpFlag } from './segment.ts';

/** How the data of a connection leaves: forms that hosts read as they should and devices may read otherwise. */
export interface SegmentShape {
  /** Most bytes of a segment; 0: as many as fit. */
  readonly segmentBytes: number;
  /** What may be sent at once leaves from its end to its beginning. */
  readonly isReversed?: boolean;
  /** Segments begin so many bytes early, with other content; hosts keep what came first. */
  readonly overlapBytes?: number;
  /** IP packets with data leave in fragments of so many bytes. */
  readonly fragmentBytes?: number;
  /** Before each segment one with other content leaves that hosts never get: its time to live, or a wrong checksum. */
  readonly decoy?: { readonly ttl: number } | 'checksum';
  /** The first data holds one byte of urgent data, which hosts do not give to programs that read. */
  readonly isUrgent?: boolean;
}

/** How a single segment differs from what the queue and the headers would say. */
export interface Disguise {
  /** Bytes at the beginning that are noise. */
  readonly noise: number;
  /** Its last byte is urgent data. */
  readonly isUrgent: boolean;
  readonly hasWrongChecksum: boolean;
  /** Undefined: the usual one. */
  readonly ttl: number | undefined;
}

/** A segment to be sent: `offset` from the first byte of the flight on. */
export interface ShapedPiece {
  readonly offset: number;
  readonly length: number;
  /** Where the data it is about begins; before it there is noise. -1: none of it counts. */
  readonly counts: number;
  readonly disguise: Disguise | undefined;
}

const honest: Disguise = { noise: 0, isUrgent: false, hasWrongChecksum: false, ttl: undefined };
/** A segment whose last byte is urgent data. */
export const urgent: Disguise = { ...honest, isUrgent: true };

interface Flight {
  readonly bytes: number;
  readonly maxSegment: number;
  /** Offset of the byte of urgent data; -1: none. */
  readonly urgentAt: number;
}

/** Ends of the segments of a flight; urgent data is the last byte of its segment. */
const endsOf = ({ segmentBytes }: SegmentShape, { bytes, maxSegment, urgentAt }: Flight): number[] => {
  const step = segmentBytes > 0 ? Math.min(segmentBytes, maxSegment) : maxSegment;
  const ends: number[] = [];
  for (let at = 0; at < bytes; ) {
    const end = Math.min(at + step, bytes);
    at = urgentAt >= at && urgentAt < end ? urgentAt + 1 : end;
    ends.push(at);
  }
  return ends;
};

const decoyOf = ({ decoy }: SegmentShape, length: number): Disguise | undefined => {
  if (decoy === undefined) return undefined;
  if (decoy === 'checksum') return { ...honest, noise: length, hasWrongChecksum: true };
  return { ...honest, noise: length, ttl: decoy.ttl };
};

/** The segments of a flight of new data, in the order in which they leave. */
export const shapedPieces = (shape: SegmentShape, flight: Flight): ShapedPiece[] => {
  const { overlapBytes = 0 } = shape;
  const ends = endsOf(shape, flight);
  const pieces = ends.flatMap((end, i): ShapedPiece[] => {
    const start = ends[i - 1] ?? 0;
    const early = Math.min(overlapBytes, start, flight.maxSegment - (end - start));
    const length = end - start + early;
    const isUrgent = flight.urgentAt === end - 1;
    const disguise = early > 0 || isUrgent ? { ...honest, noise: early, isUrgent } : undefined;
    const real = { offset: start - early, length, counts: start, disguise };
    const decoy = decoyOf(shape, length);
    return decoy === undefined ? [real] : [{ ...real, counts: -1, disguise: decoy }, real];
  });
  return shape.isReversed ? pieces.reverse() : pieces;
};

const noise = 0x2e;

/** Changes the segment at `at` whose data is [start, start + length), before its checksum is computed. */
export const disguiseSegment = (memory: Memory, at: number, start: number, length: number, how: Disguise): void => {
  if (how.noise > 0) memory.bytes.fill(noise, start, start + how.noise);
  if (!how.isUrgent) return;
  const { view } = memory;
  view.setUint8(at + 13, view.getUint8(at + 13) | tcpFlag.urg);
  view.setUint16(at + 18, length);
};
