import { PcapError } from '../pcap-error.ts';
import { type CaptureFormat, MAX_PACKET_BYTES, type ParserContext, type RecordParser } from './capture-format.ts';

const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;

/** The classic format: one link type, microseconds or nanoseconds, either byte order. */
export class PcapRecords implements RecordParser {
  readonly format: CaptureFormat;
  snapLen = 0;
  need = FILE_HEADER_BYTES;
  skip = 0;
  isStopped = false;
  readonly #context: ParserContext;
  readonly #isLittleEndian: boolean;
  readonly #nanosecondsPerUnit: number;
  #linkType = -1;

  constructor(context: ParserContext, isLittleEndian: boolean, hasNanoseconds: boolean) {
    this.#context = context;
    this.#isLittleEndian = isLittleEndian;
    this.#nanosecondsPerUnit = hasNanoseconds ? 1 : 1000;
    this.format = hasNanoseconds ? 'pcap-ns' : 'pcap';
  }

  consume(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    let at = start;
    if (this.#linkType < 0) {
      if (end - at < FILE_HEADER_BYTES) return at;
      this.snapLen = view.getUint32(at + 16, this.#isLittleEndian);
      // The upper half carries the frame check sequence flags.
      this.#linkType = view.getUint32(at + 20, this.#isLittleEndian) & 0xffff;
      at += FILE_HEADER_BYTES;
    }
    return this.#records(bytes, view, at, end);
  }

  #records(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const { packet, sink } = this.#context;
    const isLittleEndian = this.#isLittleEndian;
    packet.bytes = bytes;
    packet.linkType = this.#linkType;
    let at = start;
    this.need = RECORD_HEADER_BYTES;
    while (end - at >= RECORD_HEADER_BYTES) {
      const length = view.getUint32(at + 8, isLittleEndian);
      if (length > MAX_PACKET_BYTES) throw tooLong(packet.number + 1, length);
      if (end - at < RECORD_HEADER_BYTES + length) {
        this.need = RECORD_HEADER_BYTES + length;
        return at;
      }
      packet.number++;
      packet.seconds = view.getUint32(at, isLittleEndian);
      packet.nanoseconds = view.getUint32(at + 4, isLittleEndian) * this.#nanosecondsPerUnit;
      packet.start = at + RECORD_HEADER_BYTES;
      packet.length = length;
      packet.wireLength = Math.max(length, view.getUint32(at + 12, isLittleEndian));
      at += RECORD_HEADER_BYTES + length;
      if (sink(packet) === false) {
        this.isStopped = true;
        return at;
      }
    }
    return at;
  }
}

function tooLong(number: number, length: number): PcapError {
  return new PcapError(
    'CORRUPT_CAPTURE',
    `Packet ${number} claims ${length} captured bytes, more than the ${MAX_PACKET_BYTES} any capture holds.`,
  );
}
