import { type HeaderReader, HeaderWriter } from '../header-strings.ts';
import type { Header } from '../hpack.ts';
import { InstructionBuffer } from './instruction-buffer.ts';
import { fieldBytes, maxEntriesOf, QpackTable, qpackStaticTable } from './qpack-table.ts';

const keyOf = ([name, value]: Header): string => `${name}\n${value}`;
const staticIndexes = new Map(qpackStaticTable.map((header, index) => [keyOf(header), index] as const).toReversed());
const staticNames = new Map(qpackStaticTable.map(([name], index) => [name, index] as const).toReversed());
/** Values that others must not guess. */
const neverIndexed = new Set(['authorization', 'proxy-authorization', 'set-cookie']);
/** Values that differ each time. */
const notIndexed = new Set([':path', 'content-length', 'date', 'etag', 'age', 'x-replay-entry']);
const maxTableBytes = 4096;
const maxIndexes = 1000;

/** A block that refers to the table and that the peer has not acknowledged. */
interface Section {
  readonly required: number;
  readonly oldest: number;
}

interface CachedBlock extends Section {
  readonly headers: readonly Header[];
  readonly inserted: number;
  readonly known: number;
  readonly block: Uint8Array;
}

/**
 * Writes header blocks (RFC 9204). It refers only to entries that the peer is known to have, so that no block has to
 * wait.
 */
export class QpackEncoder {
  readonly #table = new QpackTable();
  readonly #indexes = new Map<string, number>();
  readonly #block = new HeaderWriter();
  readonly #out = new HeaderWriter();
  readonly #answers = new InstructionBuffer();
  readonly #sections = new Map<number, Section[]>();
  /** Entries that the peer has. */
  #known = 0;
  #maxEntries = 0;
  #cache: CachedBlock | undefined;

  /** The peer allows a table of this size; more than 4096 bytes are not used. */
  allow(maxBytes: number): void {
    this.#maxEntries = maxEntriesOf(maxBytes);
    const wanted = Math.min(maxBytes, maxTableBytes);
    if (wanted === this.#table.maxBytes) return;
    this.#table.resize(wanted);
    this.#out.integer(wanted, 5, 0x20);
  }

  /** Instructions for the encoder stream; undefined if there are none. */
  takeOutput(): Uint8Array | undefined {
    return this.#out.length === 0 ? undefined : this.#out.take();
  }

  /** The block; the same list of headers costs nothing once the table has them. */
  encode(stream: number, headers: readonly Header[]): Uint8Array {
    const cached = this.#cache;
    const isCurrent =
      cached?.headers === headers && cached.inserted === this.#table.inserted && cached.known === this.#known;
    const current = isCurrent ? (cached as CachedBlock) : this.#write(headers);
    this.#cache = current;
    if (current.required > 0) this.#remember(stream, current);
    return current.block;
  }

  /** Bytes of the decoder stream of the peer. Throws a `RangeError` where they are invalid. */
  feed(bytes: Uint8Array, start: number, end: number): void {
    this.#answers.feed(bytes, start, end, (reader) => this.#answer(reader));
  }

  #answer(reader: HeaderReader): void {
    const first = reader.byte();
    if (first >= 0x80) this.#acknowledge(reader.integer(first, 7));
    else if (first >= 0x40) this.#sections.delete(reader.integer(first, 6));
    else {
      const count = reader.integer(first, 6);
      if (count === 0 || this.#known + count > this.#table.inserted)
        throw new RangeError('more entries arrived than were sent');
      this.#known += count;
    }
  }

  #acknowledge(stream: number): void {
    const sections = this.#sections.get(stream);
    const section = sections?.shift();
    if (section === undefined) throw new RangeError(`stream ${stream} has nothing to acknowledge`);
    if (sections?.length === 0) this.#sections.delete(stream);
    this.#known = Math.max(this.#known, section.required);
  }

  #remember(stream: number, { required, oldest }: Section): void {
    const sections = this.#sections.get(stream);
    if (sections === undefined) this.#sections.set(stream, [{ required, oldest }]);
    else sections.push({ required, oldest });
  }

  #write(headers: readonly Header[]): CachedBlock {
    const references = headers.map((header) => this.#referenceTo(header));
    const used = references.filter((index) => index >= 0);
    const required = used.length === 0 ? 0 : Math.max(...used) + 1;
    const oldest = used.length === 0 ? 0 : Math.min(...used);
    const block = this.#block;
    block.integer(required === 0 ? 0 : (required % (2 * this.#maxEntries)) + 1, 8, 0);
    block.integer(0, 7, 0);
    for (const [at, header] of headers.entries()) {
      const index = references[at] as number;
      if (index >= 0) block.integer(required - index - 1, 6, 0x80);
      else this.#literal(header);
    }
    // What is not yet in the table serves the blocks to come.
    for (const [at, header] of headers.entries()) if (references[at] === -1) this.#offer(header, oldest, required);
    return { headers, required, oldest, block: block.take(), inserted: this.#table.inserted, known: this.#known };
  }

  /** The absolute index of an entry that the peer has; -1 if it has none. */
  #referenceTo(header: Header): number {
    const key = keyOf(header);
    if (staticIndexes.has(key)) return -1;
    const index = this.#indexes.get(key) ?? -1;
    return index >= this.#table.first && index < this.#known ? index : -1;
  }

  #literal(header: Header): void {
    const [name, value] = header;
    const block = this.#block;
    const known = staticIndexes.get(keyOf(header));
    if (known !== undefined) {
      block.integer(known, 6, 0xc0);
      return;
    }
    const secrecy = neverIndexed.has(name) ? 1 : 0;
    const nameIndex = staticNames.get(name);
    if (nameIndex === undefined) block.text(name, 3, 0x20 | (secrecy << 4));
    else block.integer(nameIndex, 4, 0x50 | (secrecy << 5));
    block.text(value);
  }

  /** Inserts a header unless it is there, or an entry that is in use would have to go. */
  #offer(header: Header, oldest: number, required: number): void {
    const [name, value] = header;
    const key = keyOf(header);
    if (staticIndexes.has(key) || neverIndexed.has(name) || notIndexed.has(name)) return;
    if ((this.#indexes.get(key) ?? -1) >= this.#table.first) return;
    if (fieldBytes(header) > this.#table.maxBytes) return;
    if (!this.#canEvict(this.#table.missing(fieldBytes(header)), required === 0 ? Number.POSITIVE_INFINITY : oldest))
      return;
    const nameIndex = staticNames.get(name);
    if (nameIndex === undefined) this.#out.text(name, 5, 0x40);
    else this.#out.integer(nameIndex, 6, 0xc0);
    this.#out.text(value);
    this.#indexes.set(key, this.#table.inserted);
    this.#table.add(header);
    if (this.#indexes.size > maxIndexes) this.#prune();
  }

  #prune(): void {
    for (const [key, index] of this.#indexes) if (index < this.#table.first) this.#indexes.delete(key);
  }

  #canEvict(bytes: number, oldestInUse: number): boolean {
    let oldest = Math.min(oldestInUse, this.#known);
    if (bytes === 0) return true;
    for (const sections of this.#sections.values())
      for (const section of sections) oldest = Math.min(oldest, section.oldest);
    let missing = bytes;
    for (let index = this.#table.first; index < oldest && missing > 0; index++) {
      const entry = this.#table.find(index) as Header;
      missing -= fieldBytes(entry);
      if (missing <= 0) return true;
    }
    return false;
  }
}
