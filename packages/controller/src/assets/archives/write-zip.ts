import { Readable } from 'node:stream';
import { MemberNames, parseMemberName } from './archive-member.ts';
import { ZipWriter } from './zip-library.ts';

export interface ZipEntryInput {
  /** Relative name with `/` between its parts. */
  readonly name: string;
  /** A function is called when its entry is written, so that one file is open at a time. */
  readonly content: string | Uint8Array | (() => Readable | Promise<Readable>);
  /** Default 1 January 1980, the oldest a zip can hold: equal entries make an equal archive. */
  readonly modifiedAt?: Date;
  /** Stored without compression. */
  readonly isStored?: boolean;
}

export interface ZipOptions {
  /** Encrypts the contents with AES-256. */
  readonly password?: string;
}

const oldest = new Date('1980-01-01T00:00:00Z');

/** A zip as a stream, its entries in the order given; a failing content fails the stream. */
export function writeZip(
  entries: Iterable<ZipEntryInput> | AsyncIterable<ZipEntryInput>,
  options: ZipOptions = {},
): Readable {
  return Readable.from(zipped(entries, options), { objectMode: false });
}

async function* zipped(
  entries: Iterable<ZipEntryInput> | AsyncIterable<ZipEntryInput>,
  options: ZipOptions,
): AsyncGenerator<Uint8Array> {
  const channel = new TransformStream<Uint8Array, Uint8Array>();
  const writing = writeEntries(channel.writable, entries, options).then(
    () => undefined,
    async (error: unknown) => {
      await channel.writable.abort(error).catch(() => undefined);
      return error;
    },
  );
  try {
    yield* channel.readable;
  } catch (error) {
    throw (await writing) ?? error;
  }
}

async function writeEntries(
  writable: WritableStream<Uint8Array>,
  entries: Iterable<ZipEntryInput> | AsyncIterable<ZipEntryInput>,
  { password }: ZipOptions,
): Promise<void> {
  const encryption = password === undefined ? {} : { password, encryptionStrength: 3 as const };
  const zip = new ZipWriter(writable, { useWebWorkers: false, extendedTimestamp: false, ...encryption });
  const names = new MemberNames();
  for await (const { name, content, modifiedAt = oldest, isStored } of entries) {
    if (parseMemberName(name) !== name) throw new TypeError(`not a plain name: ${JSON.stringify(name)}`);
    names.add(name, false);
    await zip.add(name, await webStreamOf(content), {
      rawLastModDate: dosTimeOf(modifiedAt),
      ...(isStored && { level: 0 }),
    });
  }
  await zip.close();
}

async function webStreamOf(content: ZipEntryInput['content']): Promise<ReadableStream> {
  const stream = typeof content === 'function' ? await content() : Readable.from([Buffer.from(content)]);
  return Readable.toWeb(stream) as ReadableStream;
}

/** MS-DOS date and time, read as UTC whatever the time zone of this machine. */
function dosTimeOf(date: Date): number {
  const year = Math.min(Math.max(date.getUTCFullYear(), 1980), 2107) - 1980;
  const day = (year << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  return ((day << 16) | time) >>> 0;
}
