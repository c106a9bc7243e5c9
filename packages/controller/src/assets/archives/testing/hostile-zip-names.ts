import { crc32 } from 'node:zlib';
import type { HostileArchive } from './zip-bytes.ts';
import { type ZipMemberBytes, zipBytes } from './zip-bytes.ts';

const good: ZipMemberBytes = { name: 'good.txt' };

function badName(what: string, name: string | Buffer): HostileArchive {
  return {
    what: `a zip with ${what}`,
    code: 'UNSAFE_NAME',
    member: name.toString(),
    bytes: () => zipBytes([good, { name }]),
  };
}

function badType(what: string, mode: number): HostileArchive {
  return {
    what: `a zip with ${what}`,
    code: 'UNSAFE_TYPE',
    member: 'x',
    bytes: () => zipBytes([good, { name: 'x', mode }]),
  };
}

const names = [
  badName('an absolute name', '/etc/passwd'),
  badName('a name that climbs', '../evil'),
  badName('a name that climbs in the middle', 'a/../../evil'),
  badName('a name that is only dots', '..'),
  badName('a drive letter', 'C:/evil'),
  badName('a drive letter without a slash', 'c:evil'),
  badName('backslashes that climb', '..\\evil'),
  badName('a network share', '\\\\server\\share'),
  badName('a NUL in a name', 'a\0.txt'),
  badName('a line break in a name', 'a\nb'),
  badName('an escape sequence in a name', '\u001b[2Jx'),
  badName('a name written backwards', 'a\u202etxt.exe'),
  badName('a name with an empty part', 'a//b'),
  badName('a name with a dot part', 'a/./b'),
  badName('a part of 256 bytes', 'x'.repeat(256)),
  badName('a name of 1100 characters', 'abcdefghij/'.repeat(100).slice(0, -1)),
  {
    what: 'a zip with a file that is its own folder',
    code: 'UNSAFE_NAME',
    bytes: () => zipBytes([good, { name: '.' }]),
  },
  { what: 'a zip with an empty name', code: 'UNSAFE_NAME', bytes: () => zipBytes([good, { name: '' }]) },
  {
    what: 'a zip with a safe name that a second one in Unicode replaces',
    code: 'UNSAFE_NAME',
    member: '../evil',
    bytes: () => zipBytes([{ name: 'safe', centralExtra: unicodePath('safe', '../evil') }]),
  },
] satisfies HostileArchive[];

function unicodePath(name: string, path: string): Buffer {
  const extra = Buffer.alloc(9);
  extra.writeUInt16LE(0x7075, 0);
  extra.writeUInt16LE(5 + path.length, 2);
  extra.writeUInt8(1, 4);
  extra.writeUInt32LE(crc32(name), 5);
  return Buffer.concat([extra, Buffer.from(path)]);
}

const types = [
  badType('a symbolic link', 0o120777),
  badType('a character device', 0o020666),
  badType('a block device', 0o060666),
  badType('a named pipe', 0o010666),
  badType('a socket', 0o140666),
];

const doubles: HostileArchive[] = [
  {
    what: 'a zip with a name twice',
    code: 'DUPLICATE_NAME',
    member: 'x',
    bytes: () => zipBytes([{ name: 'x' }, { name: 'x' }]),
  },
  {
    what: 'a zip with a name twice in two Unicode forms',
    code: 'DUPLICATE_NAME',
    member: 'e\u0301',
    bytes: () =>
      zipBytes([
        { name: '\u00e9', flags: 0x800 },
        { name: 'e\u0301', flags: 0x800 },
      ]),
  },
  {
    what: 'a zip with a folder in the place of a file',
    code: 'DUPLICATE_NAME',
    member: 'x',
    bytes: () => zipBytes([{ name: 'x' }, { name: 'x/', content: Buffer.alloc(0), mode: 0o040755 }]),
  },
  {
    what: 'a zip with 1001 members',
    code: 'TOO_MANY_MEMBERS',
    member: 'm1000',
    bytes: () => zipBytes(Array.from({ length: 1001 }, (_, i) => ({ name: `m${i}` }))),
  },
  {
    what: 'a zip whose list of members is larger than 8 MiB',
    code: 'TOO_MANY_MEMBERS',
    bytes: () =>
      zipBytes(Array.from({ length: 160 }, (_, i) => ({ name: `m${i}`, centralExtra: Buffer.alloc(60_000) }))),
  },
];

export const hostileZipNames: readonly HostileArchive[] = [...names, ...types, ...doubles];
