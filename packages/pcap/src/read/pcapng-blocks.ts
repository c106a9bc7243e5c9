import { PcapError } from '../pcap-error.ts';
import { MAX_PACKET_BYTES, type ParserContext, type RecordParser } from './capture-format.ts';
import { TickClock } from './tick-clock.ts';

const SECTION_HEADER = 0x0a0d0d0a;
const BYTE_ORDER_MAGIC = 0x1a2b3c4d;
const INTERFACE = 1;
const OLD_PACKET = 2;
const SIMPLE_PACKET = 3;
const ENHANCED_PACKET = 6;
const MIN_BLOCK_BYTES = 12;
// The largest packet with its options; larger blocks of a known type mean a damaged file.
const MAX_BLOCK_BYTES = MAX_PACKET_BYTES + 1_048_576;
const MAX_INTERFACES = 4096;

/** Sections, interfaces and packet blocks; every other block is stepped over without being held. */
export class PcapngBlocks implements RecordParser {
  readonly format = 'pcapng';
  snapLen = 0;
  need = MIN_BLOCK_BYTES;
  skip = 0;
  isStopped = false;
  readonly #context: ParserContext;
  #isLittleEndian = true;
  #interfaces: CaptureInterface[] = [];

  constructor(context: ParserContext) {
    this.#context = context;
  }

  consume(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    this.#context.packet.bytes = bytes;
    let at = start;
    this.need = MIN_BLOCK_BYTES;
    while (end - at >= MIN_BLOCK_BYTES && !this.isStopped) {
      if (view.getUint32(at, true) === SECTION_HEADER) this.#readByteOrder(view, at);
      const type = view.getUint32(at, this.#isLittleEndian);
      const length = this.#blockLength(view, at, type);
      if (!isKnown(type)) {
        const held = Math.min(length, end - at);
        this.skip = length - held;
        at += held;
        if (this.skip > 0) return at;
        continue;
      }
      if (end - at < length) {
        this.need = length;
        return at;
      }
      this.#checkTrailer(view, at, length);
      this.#readBlock(view, at, type, length);
      at += length;
    }
    return at;
  }

  #readByteOrder(view: DataView, at: number): void {
    const magic = view.getUint32(at + 8, true);
    if (magic === BYTE_ORDER_MAGIC) this.#isLittleEndian = true;
    else if (magic === 0x4d3c2b1a) this.#isLittleEndian = false;
    else throw new PcapError('CORRUPT_CAPTURE', 'A pcapng section does not say its byte order.');
  }

  #blockLength(view: DataView, at: number, type: number): number {
    const length = view.getUint32(at + 4, this.#isLittleEndian);
    const isTooLong = isKnown(type) && length > MAX_BLOCK_BYTES;
    if (length < MIN_BLOCK_BYTES || length % 4 !== 0 || isTooLong) {
      throw new PcapError('CORRUPT_CAPTURE', `A pcapng block claims the impossible length ${length}.`);
    }
    return length;
  }

  #checkTrailer(view: DataView, at: number, length: number): void {
    if (view.getUint32(at + length - 4, this.#isLittleEndian) === length) return;
    throw new PcapError('CORRUPT_CAPTURE', 'A pcapng block has two different lengths.');
  }

  #readBlock(view: DataView, at: number, type: number, length: number): void {
    if (type === SECTION_HEADER) this.#interfaces = [];
    else if (type === INTERFACE) this.#addInterface(view, at, length);
    else if (type === SIMPLE_PACKET) this.#simplePacket(view, at, length);
    else this.#packet(view, at, length, type === OLD_PACKET);
  }

  #addInterface(view: DataView, at: number, length: number): void {
    if (length < 20) throw new PcapError('CORRUPT_CAPTURE', 'A pcapng interface block is too short.');
    if (this.#interfaces.length >= MAX_INTERFACES) {
      throw new PcapError('CORRUPT_CAPTURE', `A pcapng section describes more than ${MAX_INTERFACES} interfaces.`);
    }
    const described = readInterface(view, at, length, this.#isLittleEndian);
    this.#interfaces.push(described);
    this.snapLen = Math.max(this.snapLen, described.snapLen);
  }

  #packet(view: DataView, at: number, length: number, isOld: boolean): void {
    if (length < 32) throw new PcapError('CORRUPT_CAPTURE', 'A pcapng packet block is too short.');
    const isLittleEndian = this.#isLittleEndian;
    const id = isOld ? view.getUint16(at + 8, isLittleEndian) : view.getUint32(at + 8, isLittleEndian);
    const source = this.#interface(id);
    source.clock.set(view.getUint32(at + 12, isLittleEndian), view.getUint32(at + 16, isLittleEndian));
    const { packet } = this.#context;
    packet.seconds = source.clock.seconds;
    packet.nanoseconds = source.clock.nanoseconds;
    const captured = view.getUint32(at + 20, isLittleEndian);
    const wire = view.getUint32(at + 24, isLittleEndian);
    this.#emit(source, { start: at + 28, captured, room: length - 32, wire });
  }

  /** Has no time of its own: it keeps that of the packet before. */
  #simplePacket(view: DataView, at: number, length: number): void {
    if (length < 16) throw new PcapError('CORRUPT_CAPTURE', 'A pcapng packet block is too short.');
    const source = this.#interface(0);
    const wire = view.getUint32(at + 8, this.#isLittleEndian);
    const limit = source.snapLen === 0 ? wire : Math.min(wire, source.snapLen);
    this.#emit(source, { start: at + 12, captured: Math.min(limit, length - 16), room: length - 16, wire });
  }

  #emit(source: CaptureInterface, record: { start: number; captured: number; room: number; wire: number }): void {
    const { packet, sink } = this.#context;
    if (record.captured > record.room || record.captured > MAX_PACKET_BYTES) {
      throw new PcapError('CORRUPT_CAPTURE', `Packet ${packet.number + 1} claims more bytes than its block holds.`);
    }
    packet.number++;
    packet.linkType = source.linkType;
    packet.start = record.start;
    packet.length = record.captured;
    packet.wireLength = Math.max(record.captured, record.wire);
    if (sink(packet) === false) this.isStopped = true;
  }

  #interface(id: number): CaptureInterface {
    const found = this.#interfaces[id];
    if (found !== undefined) return found;
    throw new PcapError('CORRUPT_CAPTURE', `A pcapng packet names interface ${id}, which the file does not describe.`);
  }
}

function isKnown(type: number): boolean {
  return (
    type === ENHANCED_PACKET ||
    type === SIMPLE_PACKET ||
    type === OLD_PACKET ||
    type === INTERFACE ||
    type === SECTION_HEADER
  );
}

interface CaptureInterface {
  readonly linkType: number;
  /** 0 = no limit. */
  readonly snapLen: number;
  readonly clock: TickClock;
}

const OPTION_TSRESOL = 9;
const OPTION_TSOFFSET = 14;
const MICROSECONDS = 6;
// Beyond this a shifted time would no longer be a safe integer.
const MAX_OFFSET_SECONDS = 2n ** 40n;

/** Reads an interface block of `length` bytes at `at`; damaged options end the list, they do not end the reading. */
function readInterface(view: DataView, at: number, length: number, isLittleEndian: boolean): CaptureInterface {
  let resolution = MICROSECONDS;
  let offsetSeconds = 0;
  const end = at + length - 4;
  let option = at + 16;
  while (end - option >= 4) {
    const code = view.getUint16(option, isLittleEndian);
    const size = view.getUint16(option + 2, isLittleEndian);
    const value = option + 4;
    if (code === 0 || size > end - value) break;
    if (code === OPTION_TSRESOL && size >= 1) resolution = view.getUint8(value);
    if (code === OPTION_TSOFFSET && size >= 8) offsetSeconds = boundedOffset(view.getBigInt64(value, isLittleEndian));
    option = value + size + (-size & 3);
  }
  return {
    linkType: view.getUint16(at + 8, isLittleEndian),
    snapLen: view.getUint32(at + 12, isLittleEndian),
    clock: new TickClock(resolution, offsetSeconds),
  };
}

function boundedOffset(seconds: bigint): number {
  if (seconds > MAX_OFFSET_SECONDS || seconds < -MAX_OFFSET_SECONDS) return 0;
  return Number(seconds);
}
