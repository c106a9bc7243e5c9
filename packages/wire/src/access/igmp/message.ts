import { checksumOf, isSumValid, sumBytes } from '../../bytes/checksum.ts';
import type { Memory } from '../../bytes/memory.ts';
import type { GroupRecord } from '../groups/group-format.ts';

export const igmpProtocol = 2;
export const igmpType = { query: 0x11, reportV1: 0x12, reportV2: 0x16, leave: 0x17, reportV3: 0x22 } as const;

/** Header of IPv4 with the router alert option, which all messages have. */
export const alertHeaderBytes = 24;
const routerAlert = 0x94040000;
const messageBytes = 8;
const recordBytes = 8;
/** Answers to queries of version 1 come within this time. */
const responseMsOfV1 = 10_000;
const internetworkControl = 0xc0;

/** Where messages of all hosts go: leaves to all routers, reports of version 3 to routers that speak it. */
export const allRouters4 = 0xe0000002 | 0;
export const igmpRouters = 0xe0000016 | 0;

/** A code of version 3 above 127 is a floating-point number. */
const tenthsOf = (code: number): number => (code < 128 ? code : ((code & 15) | 16) << (((code >>> 4) & 7) + 3));

/** A query of any version, parsed into one object that is used again. */
export class IgmpQuery {
  /** 0: for all groups. */
  group = 0;
  maxResponseMs = 0;

  parse(memory: Memory, start: number, end: number): boolean {
    const { view } = memory;
    const length = end - start;
    if (length < messageBytes || view.getUint8(start) !== igmpType.query) return false;
    if (!isSumValid(sumBytes(memory, start, end))) return false;
    const code = view.getUint8(start + 1);
    this.group = view.getInt32(start + 4);
    const isV3 = length >= 12;
    this.maxResponseMs = code === 0 && !isV3 ? responseMsOfV1 : (isV3 ? tenthsOf(code) : code) * 100;
    return true;
  }
}

/** Writes a report or a leave of version 1 or 2 and returns its end. */
export const writeIgmp = (memory: Memory, at: number, type: number, group: number): number => {
  const { view } = memory;
  view.setInt32(at, type << 24);
  view.setInt32(at + 4, group);
  view.setUint16(at + 2, checksumOf(sumBytes(memory, at, at + messageBytes)));
  return at + messageBytes;
};

export const recordBytesOf = (sources: number): number => recordBytes + sources * 4;

/** Writes a report of version 3 and returns its end. */
export const writeReport3 = (memory: Memory, start: number, records: readonly GroupRecord<number>[]): number => {
  const { view } = memory;
  view.setInt32(start, igmpType.reportV3 << 24);
  view.setInt32(start + 4, records.length);
  let at = start + messageBytes;
  for (const { type, group, sources } of records) {
    view.setInt32(at, (type << 24) | sources.length);
    view.setInt32(at + 4, group);
    for (const [i, source] of sources.entries()) view.setInt32(at + recordBytes + i * 4, source);
    at += recordBytes + sources.length * 4;
  }
  view.setUint16(start + 2, checksumOf(sumBytes(memory, start, at)));
  return at;
};

/** Writes the IPv4 header with router alert of the packet [at, end). */
export const writeAlertHeader = (
  memory: Memory,
  at: number,
  end: number,
  { source, destination }: { readonly source: number; readonly destination: number },
): void => {
  const { view } = memory;
  view.setUint16(at, 0x4600 | internetworkControl);
  view.setUint16(at + 2, end - at);
  view.setInt32(at + 4, 0x4000);
  view.setInt32(at + 8, (1 << 24) | (igmpProtocol << 16));
  view.setInt32(at + 12, source);
  view.setInt32(at + 16, destination);
  view.setUint32(at + 20, routerAlert);
  view.setUint16(at + 10, checksumOf(sumBytes(memory, at, at + alertHeaderBytes)));
};
