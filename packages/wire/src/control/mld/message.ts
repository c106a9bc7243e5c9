import { type GroupRecord, type HostFormat, recordType } from '../../access/groups/group-format.ts';
import { checksumOf, isSumValid, sumBytes } from '../../bytes/checksum.ts';
import type { Memory } from '../../bytes/memory.ts';
import type { Packet } from '../../host-group/packet.ts';
import { formatAddress, parseAddress, readAddress6, writeAddress6 } from '../../ip/address.ts';
import { ipProtocol } from '../../ip/header-fields.ts';
import { ipv6Bytes, writeIpv6 } from '../../ip/ipv6.ts';
import { pseudoHeaderSum } from '../../ip/pseudo-header.ts';
import { bytesOfAddress, textOfAddress } from '../address-bytes.ts';
import { floatField, type GroupMessage, type GroupQuery } from '../groups/querier-format.ts';
import { MessageWriter } from '../message-writer.ts';

const mldType = { query: 130, report: 131, done: 132, report2: 143 } as const;
export const allNodes6 = 'ff02::1';
const allRouters6 = 'ff02::2';
const reportGroup6 = 'ff02::16';

const shortBytes = 24;
const longQueryBytes = 28;
const reportBytes = 8;
const recordBytes = 20;
const addressBytes = 16;
const maxCode = 0xffff;
const internetworkControl = 0xc0;
/** Header with the router alert option (RFC 2711), which all messages have. */
const mldHeaderBytes = ipv6Bytes + 8;
/** Header in front of a message, with router alert or without it. */
export const mldMessageAt = (hasAlert: boolean): number => (hasAlert ? mldHeaderBytes : ipv6Bytes);
const hopByHop = 0;
const alertOption = [ipProtocol.icmp6, 0, 5, 2, 0, 0, 1, 0];

/** A query as queriers of a version send it, without its checksum. Version 1 has no sources. */
export const writeMldQuery = ({ version, group, sources, ...query }: GroupQuery<string>): Uint8Array => {
  const writer = new MessageWriter(64);
  const ms = Math.round(query.responseMs);
  const code = version === 1 ? Math.min(ms, maxCode) : floatField(ms, 16);
  writer
    .u8(mldType.query)
    .u8(0)
    .u16(0)
    .u16(code)
    .u16(0)
    .copy(bytesOfAddress(group ?? '::'));
  if (version === 2) {
    writer.u8(query.robustness).u8(floatField(query.intervalSec, 8)).u16(sources.length);
    for (const source of sources) writer.copy(bytesOfAddress(source));
  }
  return writer.take();
};

const textAt = (bytes: Uint8Array, at: number): string => textOfAddress(bytes.subarray(at, at + addressBytes));

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Groups of the interface itself, and the one of all nodes, are never reported. */
const isReportable = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0xff && ((bytes[at + 1] as number) & 15) > 1 && textAt(bytes, at) !== allNodes6;

/** Reads a message whose checksum is right; undefined: broken or unknown. */
export const parseMld = (bytes: Uint8Array): GroupMessage<string> | undefined => {
  const { length } = bytes;
  const type = bytes[0];
  if (type === mldType.report2) return length < reportBytes ? undefined : { kind: 'report', records: recordsOf(bytes) };
  if (length < shortBytes) return undefined;
  if (type === mldType.query) return length === shortBytes || length >= longQueryBytes ? { kind: 'query' } : undefined;
  if ((type !== mldType.report && type !== mldType.done) || !isReportable(bytes, 8)) return undefined;
  const kind = type === mldType.report ? recordType.isExclude : recordType.toInclude;
  return { kind: 'report', records: [{ type: kind, group: textAt(bytes, 8), sources: [] }] };
};

/** Records that do not fit into the message end the list. */
const recordsOf = (bytes: Uint8Array): GroupRecord<string>[] => {
  const view = viewOf(bytes);
  const records: GroupRecord<string>[] = [];
  let at = reportBytes;
  for (let left = view.getUint16(6); left > 0 && at + recordBytes <= bytes.length; left--) {
    const count = view.getUint16(at + 2);
    const start = at + recordBytes;
    const end = start + count * addressBytes;
    if (end > bytes.length) break;
    const sources = Array.from({ length: count }, (_, i) => textAt(bytes, start + i * addressBytes));
    if (isReportable(bytes, at + 4)) records.push({ type: view.getUint8(at), group: textAt(bytes, at + 4), sources });
    at = end + view.getUint8(at + 1) * 4;
  }
  return records;
};

const isLinkLocal = (words: Int32Array, at: number): boolean => (words[at] as number) >>> 22 === 0xfe80 >>> 6;

/** Whether a message comes from the link and is whole (RFC 3810, section 5.1.14 and 5.2.13). */
export const isFromLink = ({ addresses, ttl, checks }: Packet, memory: Memory, start: number, end: number): boolean => {
  if (ttl !== 1 || !isLinkLocal(addresses, 4)) return false;
  if (!checks) return true;
  return isSumValid(pseudoHeaderSum(addresses, 0, ipProtocol.icmp6) + (end - start) + sumBytes(memory, start, end));
};

/** Delays of version 2 above 32,767 ms are floating-point numbers. */
const delayOf = (code: number): number =>
  code < 0x8000 ? code : ((code & 0xfff) | 0x1000) << (((code >>> 12) & 7) + 3);

const words = new Int32Array(8);

/** Writes the IPv6 header of the packet [at, end), with router alert if there is room for it, and the checksum. */
export const writeMldHeader = (
  memory: Memory,
  at: number,
  end: number,
  { source, destination, hasAlert = true }: { source: string; destination: string; hasAlert?: boolean },
): void => {
  const { view, bytes } = memory;
  words.set(parseAddress(source), 0);
  words.set(parseAddress(destination), 4);
  const start = at + mldMessageAt(hasAlert);
  const protocol = hasAlert ? hopByHop : ipProtocol.icmp6;
  const payloadLength = end - at - ipv6Bytes;
  writeIpv6(view, at, { trafficClass: internetworkControl, flowLabel: 0, payloadLength, protocol, hopLimit: 1 });
  writeAddress6(view, at + 8, words, 0);
  writeAddress6(view, at + 24, words, 4);
  if (hasAlert) bytes.set(alertOption, at + ipv6Bytes);
  view.setUint16(start + 2, 0);
  const sum = pseudoHeaderSum(words, 0, ipProtocol.icmp6) + (end - start) + sumBytes(memory, start, end);
  view.setUint16(start + 2, checksumOf(sum));
};

/** The address so many steps behind another one. */
const addressAfter = (first: string, steps: number): string => {
  const all = parseAddress(first);
  const low = ((all[3] as number) >>> 0) + steps;
  all[3] = (low % 2 ** 32) | 0;
  all[2] = (all[2] as number) + Math.floor(low / 2 ** 32);
  return formatAddress(all);
};

const distance = (first: string, address: string): number => {
  const [a, b] = [parseAddress(first), parseAddress(address)];
  if (a[0] !== b[0] || a[1] !== b[1]) return Number.NaN;
  const lowOf = (all: Int32Array) => ((all[2] as number) >>> 0) * 2 ** 32 + ((all[3] as number) >>> 0);
  return lowOf(b) - lowOf(a);
};

export const mldHostFormat: HostFormat<string> = {
  recordVersion: 2,
  headerBytes: mldHeaderBytes,
  shortBytes,
  reportBytes,
  reportGroup: reportGroup6,
  recordBytes: (sources) => recordBytes + sources * addressBytes,
  after: addressAfter,
  distance,
  isQuery: ({ view }, start, end) => end > start && view.getUint8(start) === mldType.query,
  parseQuery({ view }, start, end) {
    const length = end - start;
    if (length !== shortBytes && length < longQueryBytes) return undefined;
    const code = view.getUint16(start + 4);
    readAddress6(view, start + 8, words, 0);
    const group = formatAddress(words);
    return {
      group: group === '::' ? undefined : group,
      maxResponseMs: length === shortBytes ? code : delayOf(code),
    };
  },
  writeShort: (_version, isJoin, group) => ({
    destination: isJoin ? group : allRouters6,
    write({ view, bytes }, at) {
      view.setInt32(at, (isJoin ? mldType.report : mldType.done) << 24);
      view.setInt32(at + 4, 0);
      bytes.set(bytesOfAddress(group), at + 8);
      return at + shortBytes;
    },
  }),
  writeReport({ view, bytes }, start, records) {
    view.setInt32(start, mldType.report2 << 24);
    view.setInt32(start + 4, records.length);
    let at = start + reportBytes;
    for (const { type, group, sources } of records) {
      view.setInt32(at, (type << 24) | sources.length);
      bytes.set(bytesOfAddress(group), at + 4);
      for (const [i, source] of sources.entries())
        bytes.set(bytesOfAddress(source), at + recordBytes + i * addressBytes);
      at += recordBytes + sources.length * addressBytes;
    }
    return at;
  },
  writeHeader: writeMldHeader,
};
