import { gzipSync } from 'node:zlib';
import { deflatedZeros, gzippedZeros } from './bombs.ts';
import { paxBytes, type TarMemberBytes, tarBytes, tarMemberBytes } from './tar-bytes.ts';
import type { HostileArchive } from './zip-bytes.ts';
import { zipBytes } from './zip-bytes.ts';

const good: TarMemberBytes = { name: 'good.txt', content: Buffer.from('content') };
const end = Buffer.alloc(1024);

function badName(what: string, name: string): HostileArchive {
  return { what: `a tar with ${what}`, code: 'UNSAFE_NAME', member: name, bytes: () => tarBytes([good, { name }]) };
}

function badType(what: string, type: string, link = ''): HostileArchive {
  return {
    what: `a tar with ${what}`,
    code: 'UNSAFE_TYPE',
    member: 'x',
    bytes: () => tarBytes([good, { name: 'x', type, link }]),
  };
}

/** A tar of headers in bytes, after a good member. */
function tarOf(...parts: Buffer[]): Buffer {
  return Buffer.concat([tarMemberBytes(good), ...parts, end]);
}

const namesAndTypes: HostileArchive[] = [
  badName('an absolute name', '/etc/passwd'),
  badName('a name that climbs', '../evil'),
  badName('a name that climbs from within', 'a/b/../../../evil'),
  badName('a drive letter', 'C:evil'),
  badName('a backslash', 'a\\b'),
  badName('a control character', 'a\u0007b'),
  badType('a symbolic link', '2', '/etc/passwd'),
  badType('a hard link', '1', 'good.txt'),
  badType('a character device', '3'),
  badType('a block device', '4'),
  badType('a named pipe', '6'),
  badType('a sparse file of GNU', 'S'),
  badType('an unknown type', 'Z'),
  {
    what: 'a tar with an extended header that gives an unsafe name',
    code: 'UNSAFE_NAME',
    member: '../evil',
    bytes: () => tarOf(paxBytes({ path: '../evil' }), tarMemberBytes({ name: 'safe' })),
  },
  {
    what: 'a tar with an extended header that gives a name with a NUL',
    code: 'UNSAFE_NAME',
    member: 'a\0b',
    bytes: () => tarOf(paxBytes({ path: 'a\0b' }), tarMemberBytes({ name: 'safe' })),
  },
  {
    what: 'a tar with a long name of GNU that is unsafe',
    code: 'UNSAFE_NAME',
    member: `../${'x'.repeat(120)}`,
    bytes: () =>
      tarOf(
        tarMemberBytes({ name: '././@LongLink', type: 'L', content: Buffer.from(`../${'x'.repeat(120)}\0`) }),
        tarMemberBytes({ name: 'safe' }),
      ),
  },
  {
    what: 'a tar with a sparse file in an extended header',
    code: 'UNSAFE_TYPE',
    member: 'safe',
    bytes: () => tarOf(paxBytes({ 'GNU.sparse.major': '1' }), tarMemberBytes({ name: 'safe' })),
  },
  { what: 'a tar with a name twice', code: 'DUPLICATE_NAME', member: 'good.txt', bytes: () => tarBytes([good, good]) },
  {
    what: 'a tar with a name twice, once with a dot before it',
    code: 'DUPLICATE_NAME',
    member: 'good.txt',
    bytes: () => tarBytes([good, { ...good, name: './good.txt' }]),
  },
  {
    what: 'a tar with 1001 members',
    code: 'TOO_MANY_MEMBERS',
    member: 'm1000',
    bytes: () => tarBytes(Array.from({ length: 1001 }, (_, i) => ({ name: `m${i}` }))),
  },
];

const damaged: HostileArchive[] = [
  {
    what: 'a tar cut in a content',
    code: 'TRUNCATED_ARCHIVE',
    bytes: () => tarBytes([{ name: 'x', content: Buffer.alloc(5000) }]).subarray(0, 2000),
  },
  {
    what: 'a tar without its end mark',
    code: 'TRUNCATED_ARCHIVE',
    bytes: () => tarBytes([good, { ...good, name: 'x' }], false),
  },
  {
    what: 'a tar cut in a header',
    code: 'TRUNCATED_ARCHIVE',
    bytes: () => tarBytes([good, { ...good, name: 'x' }]).subarray(0, 1300),
  },
  {
    what: 'a tar with a wrong checksum in a header',
    code: 'BAD_ARCHIVE',
    bytes: () => tarBytes([good, { name: 'x', checksum: 1 }]),
  },
  {
    what: 'a tar whose member is longer than declared',
    code: 'BAD_ARCHIVE',
    bytes: () => tarBytes([{ name: 'x', content: Buffer.alloc(3000, 'x'), sizeField: Buffer.from('00000000001\0') }]),
  },
  {
    what: 'a tar whose member is shorter than declared',
    code: 'TRUNCATED_ARCHIVE',
    bytes: () => tarBytes([{ name: 'x', content: Buffer.alloc(10), sizeField: Buffer.from('00077777777\0') }]),
  },
  {
    what: 'a tar whose member has a size below zero',
    code: 'BAD_ARCHIVE',
    bytes: () => tarBytes([{ name: 'x', sizeField: Buffer.from([...Array<number>(11).fill(0xff), 0]) }]),
  },
  {
    what: 'a tar whose member claims 2 to the power of 80 bytes',
    code: 'TRUNCATED_ARCHIVE',
    bytes: () => tarBytes([{ name: 'x', sizeField: Buffer.from([0x80, 1, ...Array<number>(10).fill(0)]) }]),
  },
  {
    what: 'a tar whose extended header changes the size',
    code: 'BAD_ARCHIVE',
    bytes: () => tarOf(paxBytes({ size: '1' }), tarMemberBytes({ name: 'x', content: Buffer.alloc(2000, 'x') })),
  },
  {
    what: 'a tar with an extended header of 5 MiB',
    code: 'BAD_ARCHIVE',
    bytes: () => tarOf(paxBytes({ comment: 'x'.repeat(5 * 1024 * 1024) })),
  },
  {
    what: 'a tar whose folder has content',
    code: 'SIZE_MISMATCH',
    member: 'x',
    bytes: () => tarBytes([{ name: 'x', type: '5', content: Buffer.from('content') }]),
  },
  {
    what: 'a tar larger than is allowed',
    code: 'TOO_LARGE',
    bytes: () => tarBytes([{ name: 'x', content: Buffer.alloc(100_000) }]),
    options: { limits: { maxBytes: 50_000 } },
  },
];

const gzips: HostileArchive[] = [
  { what: 'a gz of a gibibyte of zeros', code: 'ARCHIVE_BOMB', bytes: () => gzippedZeros(1024) },
  { what: 'a tar.gz with a member of a gibibyte of zeros', code: 'ARCHIVE_BOMB', bytes: tarBomb },
  {
    what: 'a gz larger than is allowed',
    code: 'TOO_LARGE',
    bytes: () => gzipSync(Buffer.alloc(300_000)),
    options: { limits: { maxBytes: 200_000 } },
  },
  {
    what: 'a gz cut short',
    code: 'TRUNCATED_ARCHIVE',
    bytes: () => gzipSync(Buffer.alloc(300_000, 'abc')).subarray(0, -12),
  },
  { what: 'a tar.gz cut short', code: 'TRUNCATED_ARCHIVE', bytes: () => gzipSync(tarBytes([good])).subarray(0, -9) },
  { what: 'a gz with a wrong checksum', code: 'BAD_CHECKSUM', bytes: () => spoiled(gzipSync('content'), -8) },
  { what: 'a gz with a wrong length', code: 'BAD_CHECKSUM', bytes: () => spoiled(gzipSync('content'), -4) },
  {
    what: 'a gz with damaged data',
    code: 'BAD_ARCHIVE',
    bytes: () => Buffer.concat([gzipSync('').subarray(0, 10), Buffer.alloc(50, 0xff)]),
  },
  {
    what: 'a tar.gz with a zip with a gz',
    code: 'TOO_DEEP',
    member: 'c.gz',
    bytes: () =>
      gzipSync(tarBytes([{ name: 'b.zip', content: zipBytes([{ name: 'c.gz', content: gzipSync('content') }]) }])),
    options: { nested: 'open' },
  },
  { what: 'an empty file', code: 'NOT_AN_ARCHIVE', bytes: () => Buffer.alloc(0) },
  { what: 'a picture', code: 'NOT_AN_ARCHIVE', bytes: () => Buffer.from('\x89PNG\r\n\x1a\n'.padEnd(2000), 'latin1') },
];

function spoiled(bytes: Buffer, at: number): Buffer {
  const index = bytes.length + at;
  bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index);
  return bytes;
}

/** The header of a huge member, stored, and then zeros without end. */
function tarBomb(): Buffer {
  const header = tarMemberBytes({ name: 'x', sizeField: Buffer.from('10000000000\0') });
  const stored = Buffer.alloc(5);
  stored.writeUInt16LE(header.length, 1);
  stored.writeUInt16LE(~header.length & 0xffff, 3);
  return Buffer.concat([gzipSync('').subarray(0, 10), stored, header, deflatedZeros(1024), Buffer.alloc(8)]);
}

export const hostileTars: readonly HostileArchive[] = [...namesAndTypes, ...damaged, ...gzips];
