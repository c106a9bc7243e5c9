import { HeaderReader, HeaderWriter } from './header-strings.ts';

/** Name and value; names in lower case. */
export type Header = readonly [name: string, value: string];

/** RFC 7541, appendix A. */
const staticTable: readonly Header[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ...[
    'accept-language',
    'accept-ranges',
    'accept',
    'access-control-allow-origin',
    'age',
    'allow',
    'authorization',
    'cache-control',
    'content-disposition',
    'content-encoding',
    'content-language',
    'content-length',
    'content-location',
    'content-range',
    'content-type',
    'cookie',
    'date',
    'etag',
    'expect',
    'expires',
    'from',
    'host',
    'if-match',
    'if-modified-since',
    'if-none-match',
    'if-range',
    'if-unmodified-since',
    'last-modified',
    'link',
    'location',
    'max-forwards',
    'proxy-authenticate',
    'proxy-authorization',
    'range',
    'referer',
    'refresh',
    'retry-after',
    'server',
    'set-cookie',
    'strict-transport-security',
    'transfer-encoding',
    'user-agent',
    'vary',
    'via',
    'www-authenticate',
  ].map((name): Header => [name, '']),
];

const entryOverhead = 32;
const defaultTableBytes = 4096;
const sizeOf = ([name, value]: Header): number => name.length + value.length + entryOverhead;

/** The newest entries, as both sides keep them. */
class DynamicTable {
  /** The newest first. */
  readonly entries: Header[] = [];
  #bytes = 0;
  #maxBytes = defaultTableBytes;

  get maxBytes(): number {
    return this.#maxBytes;
  }

  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes;
    this.#evict(0);
  }

  add(header: Header): void {
    const size = sizeOf(header);
    this.#evict(size);
    if (size > this.#maxBytes) return;
    this.entries.unshift(header);
    this.#bytes += size;
  }

  #evict(needed: number): void {
    while (this.entries.length > 0 && this.#bytes + needed > this.#maxBytes)
      this.#bytes -= sizeOf(this.entries.pop() as Header);
  }
}

/** Reads the header blocks of one direction of a connection. */
export class HpackDecoder {
  readonly #table = new DynamicTable();
  readonly #maxListBytes: number;

  /** `maxListBytes`: a longer list is an error. */
  constructor(maxListBytes = 65_536) {
    this.#maxListBytes = maxListBytes;
  }

  /** Throws where the block is invalid: the connection cannot go on. */
  decode(bytes: Uint8Array, start: number, end: number): Header[] {
    const reader = new HeaderReader(bytes, start, end);
    const headers: Header[] = [];
    let listBytes = 0;
    while (!reader.isDone) {
      const first = reader.byte();
      if ((first & 0xe0) === 0x20) {
        if (headers.length > 0) throw new RangeError('the size of the table changes after the first header');
        this.#resize(reader.integer(first, 5));
        continue;
      }
      const header = this.#field(reader, first);
      listBytes += sizeOf(header);
      if (listBytes > this.#maxListBytes) throw new RangeError('too many headers');
      headers.push(header);
    }
    return headers;
  }

  #field(reader: HeaderReader, first: number): Header {
    if (first >= 0x80) return this.#entry(reader.integer(first, 7));
    const isIndexed = first >= 0x40;
    const index = reader.integer(first, isIndexed ? 6 : 4);
    const name = index === 0 ? reader.text() : this.#entry(index)[0];
    const header: Header = [name, reader.text()];
    if (isIndexed) this.#table.add(header);
    return header;
  }

  #resize(maxBytes: number): void {
    if (maxBytes > defaultTableBytes) throw new RangeError('the table is larger than allowed');
    this.#table.resize(maxBytes);
  }

  #entry(index: number): Header {
    const entry =
      index <= staticTable.length ? staticTable[index - 1] : this.#table.entries[index - staticTable.length - 1];
    if (entry === undefined) throw new RangeError(`there is no header ${index}`);
    return entry;
  }
}

const staticIndexes = new Map(
  staticTable.map(([name, value], index) => [`${name}\n${value}`, index + 1]).toReversed() as [string, number][],
);
const staticNames = new Map(staticTable.map(([name], index) => [name, index + 1] as const).toReversed());
/** Values that differ each time, or that others must not guess, stay out of the table. */
const neverIndexed = new Set(['authorization', 'proxy-authorization', 'set-cookie']);
const notIndexed = new Set([':path', 'content-length', 'date', 'etag', 'age', 'x-replay-entry']);

/** Writes the header blocks of one direction of a connection. */
export class HpackEncoder {
  readonly #table = new DynamicTable();
  readonly #writer = new HeaderWriter();
  #insertions = 0;
  #newMaxBytes: number | undefined;
  #cache: { readonly headers: readonly Header[]; readonly insertions: number; readonly block: Uint8Array } | undefined;

  /** The peer allows a table of this size; more than the default is not used. */
  allow(maxBytes: number): void {
    const wanted = Math.min(maxBytes, defaultTableBytes);
    if (wanted === this.#table.maxBytes) return;
    this.#newMaxBytes = wanted;
    this.#table.resize(wanted);
    this.#insertions++;
  }

  /** The block; the same list of headers costs nothing once the table has them. */
  encode(headers: readonly Header[]): Uint8Array {
    const cache = this.#cache;
    if (cache !== undefined && cache.headers === headers && cache.insertions === this.#insertions) return cache.block;
    const writer = this.#writer;
    if (this.#newMaxBytes !== undefined) writer.integer(this.#newMaxBytes, 5, 0x20);
    const isPlain = this.#newMaxBytes === undefined;
    this.#newMaxBytes = undefined;
    const before = this.#insertions;
    for (const header of headers) this.#write(header);
    const block = writer.take();
    this.#cache = isPlain && before === this.#insertions ? { headers, insertions: before, block } : undefined;
    return block;
  }

  #write(header: Header): void {
    const [name, value] = header;
    const writer = this.#writer;
    const known = staticIndexes.get(`${name}\n${value}`) ?? this.#indexOf(header);
    if (known !== undefined) {
      writer.integer(known, 7, 0x80);
      return;
    }
    const nameIndex = staticNames.get(name) ?? 0;
    if (neverIndexed.has(name)) writer.integer(nameIndex, 4, 0x10);
    else if (notIndexed.has(name)) writer.integer(nameIndex, 4, 0);
    else {
      writer.integer(nameIndex, 6, 0x40);
      this.#table.add(header);
      this.#insertions++;
    }
    if (nameIndex === 0) writer.text(name);
    writer.text(value);
  }

  #indexOf([name, value]: Header): number | undefined {
    const { entries } = this.#table;
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index] as Header;
      if (entry[1] === value && entry[0] === name) return staticTable.length + 1 + index;
    }
    return undefined;
  }
}
