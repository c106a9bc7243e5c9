import type { Memory } from '../../bytes/memory.ts';

/** Kinds of records in reports (RFC 3376, RFC 3810). */
export const recordType = { isInclude: 1, isExclude: 2, toInclude: 3, toExclude: 4, allow: 5, block: 6 } as const;

/** What a host says about a group. */
export interface GroupRecord<Address> {
  readonly type: number;
  readonly group: Address;
  readonly sources: readonly Address[];
}

/** A message about one group and where it goes. */
interface ShortMessage<Address> {
  readonly destination: Address;
  write(memory: Memory, at: number): number;
}

/** What a host of IGMP or MLD has to know about its messages. */
export interface HostFormat<Address> {
  /** Reports have records from this version on. */
  readonly recordVersion: number;
  /** Bytes of the IP header with its options. */
  readonly headerBytes: number;
  /** Bytes of messages about one group. */
  readonly shortBytes: number;
  /** Bytes of reports before their records. */
  readonly reportBytes: number;
  /** Where reports with records go. */
  readonly reportGroup: Address;
  recordBytes(sources: number): number;
  after(first: Address, steps: number): Address;
  /** Steps from the first address to another one; not a number or negative: it is none of those behind it. */
  distance(first: Address, address: Address): number;
  isQuery(memory: Memory, start: number, end: number): boolean;
  /** `group` undefined: all groups are asked for; the result undefined: the message is broken. */
  parseQuery(
    memory: Memory,
    start: number,
    end: number,
  ): { readonly group: Address | undefined; readonly maxResponseMs: number } | undefined;
  /** A report or a leave of versions without records; undefined: the version has no such message. */
  writeShort(version: number, isJoin: boolean, group: Address): ShortMessage<Address> | undefined;
  writeReport(memory: Memory, at: number, records: readonly GroupRecord<Address>[]): number;
  /** Writes the IP header of the packet [at, end), and checksums that cover it. */
  writeHeader(
    memory: Memory,
    at: number,
    end: number,
    ends: { readonly source: Address; readonly destination: Address },
  ): void;
}
