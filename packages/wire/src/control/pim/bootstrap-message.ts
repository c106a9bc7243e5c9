import type { MessageWriter } from '../message-writer.ts';
import { type EncodedGroup, type PimReader, writeGroup, writeUnicast } from './encoding.ts';

/** A rendezvous point of a range of groups; lower priorities are preferred. */
export interface RendezvousPoint {
  readonly address: Uint8Array;
  readonly holdSec: number;
  readonly priority: number;
}

export interface RendezvousRange {
  readonly group: EncodedGroup;
  /** How many points the range has, in all fragments of the message. */
  readonly count: number;
  readonly points: readonly RendezvousPoint[];
}

/** A bootstrap message (RFC 5059, section 4.1). */
export interface BootstrapMessage {
  readonly kind: 'bootstrap';
  readonly isNoForward: boolean;
  readonly fragmentTag: number;
  readonly hashBits: number;
  /** Higher priorities are preferred. */
  readonly priority: number;
  readonly router: Uint8Array;
  readonly ranges: readonly RendezvousRange[];
}

/** A router offers to be a rendezvous point (RFC 5059, section 4.2). */
export interface CandidateMessage {
  readonly kind: 'candidate';
  readonly priority: number;
  readonly holdSec: number;
  readonly point: Uint8Array;
  readonly groups: readonly EncodedGroup[];
}

export const writeBootstrap = (writer: MessageWriter, message: BootstrapMessage): void => {
  writer.u16(message.fragmentTag).u8(message.hashBits).u8(message.priority);
  writeUnicast(writer, message.router);
  for (const { group, count, points } of message.ranges) {
    writeGroup(writer, group).u8(count).u8(points.length).u16(0);
    for (const { address, holdSec, priority } of points) writeUnicast(writer, address).u16(holdSec).u8(priority).u8(0);
  }
};

export const writeCandidate = (writer: MessageWriter, { priority, holdSec, point, groups }: CandidateMessage): void => {
  writer.u8(groups.length).u8(priority).u16(holdSec);
  writeUnicast(writer, point);
  for (const group of groups) writeGroup(writer, group);
};

const readPoint = (reader: PimReader): RendezvousPoint => {
  const point = { address: reader.unicast(), holdSec: reader.number(2), priority: reader.number(1) };
  reader.number(1);
  return point;
};

const readRange = (reader: PimReader): RendezvousRange => {
  const group = reader.group();
  const count = reader.number(1);
  const here = reader.number(1);
  reader.number(2);
  return { group, count, points: Array.from({ length: here }, () => readPoint(reader)) };
};

export const readBootstrap = (reader: PimReader, isNoForward: boolean): BootstrapMessage => {
  const fragmentTag = reader.number(2);
  const hashBits = reader.number(1);
  const priority = reader.number(1);
  const router = reader.unicast();
  const ranges: RendezvousRange[] = [];
  while (reader.left > 0) ranges.push(readRange(reader));
  return { kind: 'bootstrap', isNoForward, fragmentTag, hashBits, priority, router, ranges };
};

export const readCandidate = (reader: PimReader): CandidateMessage => {
  const count = reader.number(1);
  const priority = reader.number(1);
  const holdSec = reader.number(2);
  const point = reader.unicast();
  return { kind: 'candidate', priority, holdSec, point, groups: Array.from({ length: count }, () => reader.group()) };
};
