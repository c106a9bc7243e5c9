import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import { BlobWriter, TextReader, ZipWriter } from '@zip.js/zip.js';
import { writeZip } from '../write-zip.ts';
import { deflatedZeros, overlappingBomb } from './bombs.ts';
import type { HostileArchive } from './zip-bytes.ts';
import { endBytes, localBytes, type ZipMemberBytes, zipBytes } from './zip-bytes.ts';

const good: ZipMemberBytes = { name: 'good.txt' };
const text = Buffer.from('some text that is long enough to be worth packing, packing, packing');

/** A single member `x` that lies. */
function lie(what: string, code: HostileArchive['code'], member: Partial<ZipMemberBytes>): HostileArchive {
  return {
    what: `a zip whose member ${what}`,
    code,
    member: 'x',
    bytes: () => zipBytes([good, { ...member, name: 'x' }]),
  };
}

function damage(what: string, code: HostileArchive['code'], bytes: () => Buffer): HostileArchive {
  return { what: `a zip ${what}`, code, bytes };
}

async function encrypted(zipCrypto: boolean, spoil?: (bytes: Buffer) => void): Promise<Buffer> {
  const writer = new ZipWriter(new BlobWriter(), { useWebWorkers: false, password: 'secret', zipCrypto, level: 0 });
  await writer.add('x', new TextReader(text.toString()));
  const bytes = Buffer.from(await (await writer.close()).arrayBuffer());
  spoil?.(bytes);
  return bytes;
}

async function nested(depth: number, innermost: Buffer): Promise<Buffer> {
  let content = innermost;
  for (let i = 0; i < depth; i++) content = await buffer(writeZip([{ name: 'inner.zip', content }]));
  return content;
}

const zeros = 1024 * 1024;
/** A member below every limit of its own. */
const blanks = {
  method: 8,
  packed: deflateRawSync(Buffer.alloc(199_000)),
  declaredSize: 199_000,
  crc: crc32(Buffer.alloc(199_000)),
};
const bombs: HostileArchive[] = [
  lie('unpacks to a gibibyte and says so', 'ARCHIVE_BOMB', {
    method: 8,
    packed: deflatedZeros(1024),
    declaredSize: 1024 * zeros,
  }),
  lie('unpacks to a gibibyte and says 100 bytes', 'SIZE_MISMATCH', {
    method: 8,
    packed: deflatedZeros(1024),
    declaredSize: 100,
  }),
  lie('unpacks to half a gibibyte and says what the ratio allows', 'SIZE_MISMATCH', {
    method: 8,
    packed: deflatedZeros(512),
    declaredSize: 199 * deflatedZeros(512).length,
  }),
  {
    what: 'a zip whose members are each allowed but not together',
    code: 'ARCHIVE_BOMB',
    member: 'm1',
    bytes: () =>
      zipBytes(Array.from({ length: 20 }, (_, i) => ({ name: `m${i}`, method: 8, content: Buffer.alloc(zeros - 1) }))),
  },
  {
    what: 'a zip whose members overlap, as in the bomb of Fifield',
    code: 'OVERLAPPING_MEMBERS',
    member: 'member-1',
    bytes: () => overlappingBomb(200, 512),
  },
  {
    what: 'a zip with a member inside the content of another',
    code: 'OVERLAPPING_MEMBERS',
    member: 'inner',
    bytes: () =>
      zipBytes([
        { name: 'outer', content: localBytes({ name: 'inner' }) },
        { name: 'inner', isListedOnly: true, offset: 35 },
      ]),
  },
  {
    what: 'a zip that unpacks to more than is allowed, and says so',
    code: 'TOO_LARGE',
    member: 'x',
    bytes: () => zipBytes([good, { name: 'x', content: Buffer.alloc(2000, 'abcdefgh') }]),
    options: { limits: { maxBytes: 1000 } },
  },
  {
    what: 'a zip three deep',
    code: 'TOO_DEEP',
    member: 'inner.zip',
    bytes: () => nested(2, zipBytes([good])),
    options: { nested: 'open' },
  },
  {
    what: 'a zip whose inner zip is a bomb',
    code: 'ARCHIVE_BOMB',
    member: 'x',
    bytes: () => nested(1, zipBytes([{ name: 'x', method: 8, packed: deflatedZeros(64), declaredSize: 64 * zeros }])),
    options: { nested: 'open' },
  },
  {
    what: 'a zip whose bomb is spread over two levels',
    code: 'ARCHIVE_BOMB',
    bytes: () => nested(1, zipBytes(Array.from({ length: 900 }, (_, i) => ({ ...blanks, name: `m${i}` })))),
    options: { nested: 'open' },
  },
];

const lies = [
  lie('has less content than declared', 'SIZE_MISMATCH', { method: 8, content: text, declaredSize: text.length + 1 }),
  lie('has more content than declared', 'SIZE_MISMATCH', { method: 8, content: text, declaredSize: text.length - 1 }),
  lie('reaches beyond the archive', 'SIZE_MISMATCH', { declaredPackedSize: 100_000, declaredSize: 100_000 }),
  lie('has a wrong checksum', 'BAD_CHECKSUM', { content: text, crc: 1 }),
  lie('has damaged packed data', 'BAD_ARCHIVE', { method: 8, content: text, packed: Buffer.alloc(40, 0xff) }),
  lie('has packed data cut short', 'BAD_ARCHIVE', {
    method: 8,
    content: text,
    packed: deflateRawSync(text).subarray(0, -8),
  }),
  lie('has another name in its own header', 'AMBIGUOUS_ARCHIVE', { localName: 'y' }),
  lie('has another compression in its own header', 'AMBIGUOUS_ARCHIVE', { localMethod: 8 }),
  lie('is not where the list says', 'BAD_ARCHIVE', { offset: 3 }),
  lie('is compressed in an unknown way', 'UNSUPPORTED_ARCHIVE', { method: 77 }),
  lie('is encrypted in an unknown way', 'UNSUPPORTED_ARCHIVE', { flags: 0x41 }),
  {
    what: 'a zip whose folder has content',
    code: 'SIZE_MISMATCH',
    member: 'x',
    bytes: () => zipBytes([good, { name: 'x/', mode: 0o040755 }]),
  },
] satisfies HostileArchive[];

const damaged = [
  damage('cut in the middle', 'TRUNCATED_ARCHIVE', () =>
    zipBytes([good, { name: 'x', content: text }]).subarray(0, 70),
  ),
  damage('without its last byte', 'TRUNCATED_ARCHIVE', () => zipBytes([good]).subarray(0, -1)),
  damage('with bytes missing before the list', 'AMBIGUOUS_ARCHIVE', () =>
    without(zipBytes([good, { name: 'x', content: text }]), 40, 50),
  ),
  damage('that counts more members than it has', 'BAD_ARCHIVE', () => zipBytes([good], { count: 2 })),
  damage('that counts fewer members than it has', 'AMBIGUOUS_ARCHIVE', () =>
    zipBytes([good, { name: 'x' }], { count: 1 }),
  ),
  damage('whose list is not where it says', 'AMBIGUOUS_ARCHIVE', () => zipBytes([good], { directoryOffset: 7 })),
  damage('with another zip before it', 'AMBIGUOUS_ARCHIVE', () =>
    Buffer.concat([zipBytes([good]), zipBytes([{ name: 'x' }])]),
  ),
  damage('with data behind it', 'AMBIGUOUS_ARCHIVE', () => Buffer.concat([zipBytes([good]), Buffer.alloc(100, 'x')])),
  damage('with a second end in its comment', 'AMBIGUOUS_ARCHIVE', withTwoEnds),
  damage('that is one disk of several', 'UNSUPPORTED_ARCHIVE', () =>
    patched(zipBytes([good]), (bytes, end) => bytes.writeUInt16LE(3, end + 4)),
  ),
  damage('that claims zip64 without its record', 'BAD_ARCHIVE', () =>
    zipBytes([good], { directoryOffset: 0xffffffff }),
  ),
] satisfies HostileArchive[];

function without(bytes: Buffer, from: number, to: number): Buffer {
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
}

function patched(bytes: Buffer, change: (bytes: Buffer, endOffset: number) => void): Buffer {
  change(bytes, bytes.length - 22);
  return bytes;
}

/** The comment holds an end record of its own, which points to the same list. */
function withTwoEnds(): Buffer {
  const plain = zipBytes([good]);
  const list = { size: plain.readUInt32LE(plain.length - 10), offset: plain.readUInt32LE(plain.length - 6) };
  return zipBytes([good], { comment: endBytes(1, list.size, list.offset) });
}

const secrets: HostileArchive[] = [
  {
    what: 'an AES zip without a password',
    code: 'ARCHIVE_PASSWORD_REQUIRED',
    member: 'x',
    bytes: () => encrypted(false),
  },
  {
    what: 'a ZipCrypto zip without a password',
    code: 'ARCHIVE_PASSWORD_REQUIRED',
    member: 'x',
    bytes: () => encrypted(true),
  },
  {
    what: 'an AES zip with a wrong password',
    code: 'BAD_ARCHIVE_PASSWORD',
    member: 'x',
    bytes: () => encrypted(false),
    options: { password: 'wrong' },
  },
  {
    what: 'a ZipCrypto zip with a wrong password',
    code: 'BAD_ARCHIVE_PASSWORD',
    member: 'x',
    bytes: () => encrypted(true),
    options: { password: 'wrong' },
  },
  {
    what: 'an AES zip that has been changed',
    code: 'BAD_CHECKSUM',
    member: 'x',
    bytes: () => encrypted(false, (bytes) => bytes.writeUInt8(bytes.readUInt8(70) ^ 1, 70)),
    options: { password: 'secret' },
  },
  {
    what: 'a ZipCrypto zip that has been changed',
    code: 'BAD_ARCHIVE_PASSWORD',
    member: 'x',
    bytes: () => encrypted(true, (bytes) => bytes.writeUInt8(bytes.readUInt8(70) ^ 1, 70)),
    options: { password: 'secret' },
  },
];

export const hostileZips: readonly HostileArchive[] = [...bombs, ...lies, ...damaged, ...secrets];
