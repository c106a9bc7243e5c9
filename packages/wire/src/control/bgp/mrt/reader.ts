import { copyOf } from '../../../bytes/memory.ts';
import { attributeFlag } from '../attributes.ts';
import { type BgpFamily, familyOf } from '../families.ts';
import type { NlriRange } from '../nlri.ts';

/** A router whose routes are in the file. */
export interface MrtPeer {
  readonly routerId: number;
  /** 4 or 16 bytes. */
  readonly address: Uint8Array;
  readonly as: number;
}

/** A route of a table; ranges point into bytes that are valid during the call only. */
export interface MrtRoute {
  readonly family: BgpFamily;
  /** Length and prefix, as updates carry them. */
  readonly nlri: NlriRange;
  readonly peer: MrtPeer;
  readonly peerIndex: number;
  /** Position of the route among those to the same prefix. */
  readonly entry: number;
  /** 0 without add-path. */
  readonly pathId: number;
  /** Seconds since 1970. */
  readonly originatedAt: number;
  /** As updates carry them, with AS numbers of four bytes; MP_REACH_NLRI may hold no more than the next hop. */
  readonly attributes: NlriRange;
}

const headerBytes = 12;
const tableDumpV2 = 13;
const peerIndexTable = 1;
/** Far more than a prefix with a route of every peer takes. */
const maxRecordBytes = 1 << 24;

/** Tables of prefixes by subtype (RFC 6396, section 4.3.2; RFC 8050, section 4). */
const tables: Readonly<Record<number, { readonly family: BgpFamily; readonly hasPathIds: boolean }>> = {
  2: { family: familyOf('ipv4-unicast'), hasPathIds: false },
  4: { family: familyOf('ipv6-unicast'), hasPathIds: false },
  8: { family: familyOf('ipv4-unicast'), hasPathIds: true },
  10: { family: familyOf('ipv6-unicast'), hasPathIds: true },
};

/** Walks over a record and throws at its end. */
class RecordReader {
  readonly bytes: Uint8Array;
  at: number;
  readonly #view: DataView;
  readonly #end: number;

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.bytes = bytes;
    this.at = at;
    this.#end = end;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Where the next `count` bytes start; they are passed over. */
  pass(count: number): number {
    const { at } = this;
    if (at + count > this.#end) throw new RangeError('the record is too short');
    this.at = at + count;
    return at;
  }

  u8(): number {
    return this.#view.getUint8(this.pass(1));
  }

  u16(): number {
    return this.#view.getUint16(this.pass(2));
  }

  u32(): number {
    return this.#view.getUint32(this.pass(4));
  }
}

const readPeers = (record: RecordReader): MrtPeer[] => {
  record.pass(4);
  record.pass(record.u16());
  return Array.from({ length: record.u16() }, () => {
    const type = record.u8();
    const routerId = record.u32();
    const at = record.pass((type & 1) === 0 ? 4 : 16);
    const address = copyOf(record.bytes, at, record.at);
    return { routerId, address, as: (type & 2) === 0 ? record.u16() : record.u32() };
  });
};

/** Throws where the lengths of attributes do not add up. */
const checkAttributes = (bytes: Uint8Array, start: number, end: number): void => {
  const record = new RecordReader(bytes, start, end);
  while (record.at < end) {
    const isExtended = (record.u8() & attributeFlag.extended) !== 0;
    record.pass(1);
    record.pass(isExtended ? record.u16() : record.u8());
  }
};

/** Reads tables of routers (TABLE_DUMP_V2) from a stream of bytes. Other records are passed over. */
export class MrtReader {
  readonly counters = { records: 0, routes: 0, skipped: 0 };
  readonly #onRoute: (route: MrtRoute) => void;
  #peers: readonly MrtPeer[] = [];
  #rest = new Uint8Array(0);
  /** Bytes of the file before the rest. */
  #offset = 0;

  constructor(onRoute: (route: MrtRoute) => void) {
    this.#onRoute = onRoute;
  }

  get peers(): readonly MrtPeer[] {
    return this.#peers;
  }

  /** Takes the next bytes of the file. Throws where it is broken, and says where. */
  read(bytes: Uint8Array): void {
    let input = bytes;
    if (this.#rest.length > 0) {
      input = new Uint8Array(this.#rest.length + bytes.length);
      input.set(this.#rest);
      input.set(bytes, this.#rest.length);
    }
    const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
    let at = 0;
    while (input.length - at >= headerBytes) {
      const length = view.getUint32(at + 8);
      if (length > maxRecordBytes) throw this.#errorAt(at, `a length of ${length} bytes`);
      const end = at + headerBytes + length;
      if (end > input.length) break;
      this.#readRecord(view.getUint32(at + 4), new RecordReader(input, at + headerBytes, end), { at, end });
      at = end;
    }
    this.#offset += at;
    this.#rest = copyOf(input, at);
  }

  /** The file is over. Throws if it ends within a record. */
  end(): void {
    if (this.#rest.length > 0) throw this.#errorAt(0, 'the file ends within it');
  }

  #errorAt(at: number, reason: string): RangeError {
    return new RangeError(`MRT record at byte ${this.#offset + at}: ${reason}`);
  }

  #readRecord(kind: number, record: RecordReader, { at, end }: { readonly at: number; readonly end: number }): void {
    this.counters.records++;
    const subtype = kind & 0xffff;
    const table = kind >>> 16 === tableDumpV2 ? tables[subtype] : undefined;
    try {
      if (table !== undefined) this.#readTable(table, record, end);
      else if (kind >>> 16 === tableDumpV2 && subtype === peerIndexTable) this.#peers = readPeers(record);
      else this.counters.skipped++;
    } catch (error) {
      throw error instanceof RangeError ? this.#errorAt(at, error.message) : error;
    }
  }

  #readTable(table: { readonly family: BgpFamily; readonly hasPathIds: boolean }, record: RecordReader, end: number) {
    const { bytes } = record;
    record.pass(4);
    const start = record.at;
    const bits = record.u8();
    if (bits > table.family.addressBits) throw new RangeError(`a prefix of ${bits} bits`);
    record.pass((bits + 7) >> 3);
    const nlri = { bytes, start, end: record.at };
    const count = record.u16();
    for (let entry = 0; entry < count; entry++) this.#onRoute(this.#readEntry(table, record, { nlri, entry }));
    if (record.at !== end) throw new RangeError('the record is too long');
  }

  #readEntry(
    { family, hasPathIds }: { readonly family: BgpFamily; readonly hasPathIds: boolean },
    record: RecordReader,
    { nlri, entry }: { readonly nlri: NlriRange; readonly entry: number },
  ): MrtRoute {
    const peerIndex = record.u16();
    const peer = this.#peers[peerIndex];
    if (peer === undefined) throw new RangeError(`peer ${peerIndex} is not in the table of peers`);
    const originatedAt = record.u32();
    const pathId = hasPathIds ? record.u32() : 0;
    const start = record.pass(record.u16());
    const attributes = { bytes: record.bytes, start, end: record.at };
    checkAttributes(record.bytes, start, record.at);
    this.counters.routes++;
    return { family, nlri, peer, peerIndex, entry, pathId, originatedAt, attributes };
  }
}
