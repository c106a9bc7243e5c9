import { HeaderReader, HeaderWriter } from '../header-strings.ts';
import type { Header } from '../hpack.ts';
import { InstructionBuffer } from './instruction-buffer.ts';
import { fieldBytes, maxEntriesOf, QpackTable, qpackStaticTable } from './qpack-table.ts';

export interface QpackDecoderOptions {
  /** Largest table that the peer may use. */
  readonly maxTableBytes: number;
  /** A longer list is an error. */
  readonly maxListBytes?: number;
}

/** Reads the header blocks of the peer (RFC 9204). Throws a `RangeError` where something is invalid. */
export class QpackDecoder {
  readonly #table = new QpackTable();
  readonly #maxTableBytes: number;
  readonly #maxListBytes: number;
  readonly #instructions = new InstructionBuffer();
  readonly #out = new HeaderWriter();
  /** Entries that the peer knows to have arrived. */
  #acknowledged = 0;

  constructor({ maxTableBytes, maxListBytes = 65_536 }: QpackDecoderOptions) {
    this.#maxTableBytes = maxTableBytes;
    this.#maxListBytes = maxListBytes;
  }

  /** Bytes for the decoder stream; undefined if there are none. */
  takeOutput(): Uint8Array | undefined {
    return this.#out.length === 0 ? undefined : this.#out.take();
  }

  /** Bytes of the encoder stream of the peer. */
  feed(bytes: Uint8Array, start: number, end: number): void {
    this.#instructions.feed(bytes, start, end, (reader) => this.#instruct(reader));
    const count = this.#table.inserted - this.#acknowledged;
    if (count > 0) this.#out.integer(count, 6, 0);
    this.#acknowledged = this.#table.inserted;
  }

  /** The headers of a block; undefined if entries that it uses have not arrived yet. */
  decode(stream: number, bytes: Uint8Array, start: number, end: number): Header[] | undefined {
    const reader = new HeaderReader(bytes, start, end);
    const required = this.#requiredCount(reader.integer(reader.byte(), 8));
    const sign = reader.byte();
    const delta = reader.integer(sign, 7);
    const base = (sign & 0x80) === 0 ? required + delta : required - delta - 1;
    if (base < 0) throw new RangeError('the base is negative');
    if (required > this.#table.inserted) return undefined;
    const headers: Header[] = [];
    let listBytes = 0;
    while (!reader.isDone) {
      const header = this.#field(reader, base, required);
      listBytes += fieldBytes(header);
      if (listBytes > this.#maxListBytes) throw new RangeError('too many headers');
      headers.push(header);
    }
    if (required > 0) {
      this.#out.integer(stream, 7, 0x80);
      this.#acknowledged = Math.max(this.#acknowledged, required);
    }
    return headers;
  }

  /** A stream was given up: its blocks are not acknowledged. */
  cancel(stream: number): void {
    if (this.#maxTableBytes > 0) this.#out.integer(stream, 6, 0x40);
  }

  #requiredCount(encoded: number): number {
    if (encoded === 0) return 0;
    const full = 2 * maxEntriesOf(this.#maxTableBytes);
    if (encoded > full) throw new RangeError('the required count is too large');
    const max = this.#table.inserted + maxEntriesOf(this.#maxTableBytes);
    let count = Math.floor(max / full) * full + encoded - 1;
    if (count > max) count -= full;
    if (count <= 0) throw new RangeError('the required count is wrong');
    return count;
  }

  #field(reader: HeaderReader, base: number, required: number): Header {
    const first = reader.byte();
    if (first >= 0x80) {
      const index = reader.integer(first, 6);
      return (first & 0x40) !== 0 ? this.#static(index) : this.#dynamic(base - index - 1, required);
    }
    if (first >= 0x40) {
      const index = reader.integer(first, 4);
      const [name] = (first & 0x10) !== 0 ? this.#static(index) : this.#dynamic(base - index - 1, required);
      return [name, reader.text()];
    }
    if (first >= 0x20) return [reader.text(first, 3), reader.text()];
    if (first >= 0x10) return this.#dynamic(base + reader.integer(first, 4), required);
    const [name] = this.#dynamic(base + reader.integer(first, 3), required);
    return [name, reader.text()];
  }

  #static(index: number): Header {
    const entry = qpackStaticTable[index];
    if (entry === undefined) throw new RangeError(`there is no static header ${index}`);
    return entry;
  }

  #dynamic(index: number, required: number): Header {
    const entry = index < required ? this.#table.find(index) : undefined;
    if (entry === undefined) throw new RangeError(`there is no header ${index}`);
    return entry;
  }

  #instruct(reader: HeaderReader): void {
    const first = reader.byte();
    if (first >= 0x80) {
      const index = reader.integer(first, 6);
      const value = reader.text();
      const [name] = (first & 0x40) !== 0 ? this.#static(index) : this.#relative(index);
      this.#insert([name, value]);
    } else if (first >= 0x40) this.#insert([reader.text(first, 5), reader.text()]);
    else if (first >= 0x20) this.#resize(reader.integer(first, 5));
    else this.#insert(this.#relative(reader.integer(first, 5)));
  }

  #relative(index: number): Header {
    const { inserted } = this.#table;
    return this.#dynamic(inserted - index - 1, inserted);
  }

  #insert(header: Header): void {
    if (!this.#table.add(header)) throw new RangeError('an entry is larger than the table');
  }

  #resize(maxBytes: number): void {
    if (maxBytes > this.#maxTableBytes) throw new RangeError('the table is larger than allowed');
    this.#table.resize(maxBytes);
  }
}
