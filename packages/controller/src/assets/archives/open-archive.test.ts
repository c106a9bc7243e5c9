import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ArchiveError } from './archive-error.ts';
import type { ArchiveMember } from './archive-member.ts';
import { type OpenOptions, openArchive } from './open-archive.ts';
import { tarBytes } from './testing/tar-bytes.ts';
import { verifyArchive } from './testing/verify-archive.ts';
import { zipBytes } from './testing/zip-bytes.ts';
import { writeZip } from './write-zip.ts';

const run = promisify(execFile);
let folder = '';
/** Name to SHA-256 of the files that every archive below holds. */
const truth = new Map<string, string>();

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function make(command: string, ...args: string[]): Promise<void> {
  await run(command, args, { cwd: folder });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archives-'));
  await mkdir(join(folder, 'files/sub/empty'), { recursive: true });
  const contents: [string, Buffer][] = [
    ['files/one.txt', Buffer.from('one\n')],
    ['files/empty.bin', Buffer.alloc(0)],
    ['files/sub/random.bin', randomBytes(300_000)],
    ['files/sub/ünï.txt', Buffer.from('text '.repeat(40_000))],
    [`files/sub/${'long-name-'.repeat(15)}.txt`, Buffer.from('long')],
  ];
  for (const [name, content] of contents) {
    await writeFile(join(folder, name), content);
    truth.set(name, sha256(content));
  }
  await make('zip', '-qr', 'plain.zip', 'files');
  await make('zip', '-qr0', 'stored.zip', 'files');
  await make('zip', '-qrP', 'secret', 'zipcrypto.zip', 'files');
  for (const format of ['gnu', 'pax', 'ustar']) {
    const names = format === 'ustar' ? ['files/one.txt', 'files/sub/random.bin'] : ['./files'];
    await make('tar', `--format=${format}`, '-cf', `${format}.tar`, ...names);
  }
  await make('tar', '-czf', 'gnu.tar.gz', 'files');
  await make('sh', '-c', 'gzip -c files/sub/random.bin > random.bin.gz');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function contentsOf(archive: Awaited<ReturnType<typeof openArchive>>): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const member of archive.members()) found.set(member.name, sha256(await buffer(member.open())));
  await archive.close();
  return found;
}

describe('an archive made by common tools', () => {
  test.each([
    ['plain.zip', 'zip', {}],
    ['stored.zip', 'zip', {}],
    ['zipcrypto.zip', 'zip', { password: 'secret' }],
    ['gnu.tar', 'tar', {}],
    ['pax.tar', 'tar', {}],
    ['gnu.tar.gz', 'tar.gz', {}],
  ])('%s is read whole, from the file and from a stream', async (file, format, options: OpenOptions) => {
    const path = join(folder, file);
    const fromFile = await openArchive({ path }, options);
    expect(fromFile.format).toBe(format);
    expect(await contentsOf(fromFile)).toEqual(truth);
    const { size } = await stat(path);
    const fromStream = await openArchive({ stream: createReadStream(path), size }, options);
    expect(await contentsOf(fromStream)).toEqual(truth);
  });

  test('a plain gz has one member, named after the file', async () => {
    const archive = await openArchive({ path: join(folder, 'random.bin.gz'), name: 'random.bin.gz' });
    expect(archive.format).toBe('gz');
    expect(await contentsOf(archive)).toEqual(new Map([['random.bin', truth.get('files/sub/random.bin')]]));
  });

  test('an AES zip opens with its password', async () => {
    const path = join(folder, 'aes.zip');
    await writeFile(path, await buffer(writeZip([{ name: 'a', content: 'secret text' }], { password: 'secret' })));
    const archive = await openArchive({ path }, { password: 'secret' });
    expect(await contentsOf(archive)).toEqual(new Map([['a', sha256(Buffer.from('secret text'))]]));
  });

  test('members tell size, date and encryption before they are opened', async () => {
    const archive = await openArchive({ path: join(folder, 'zipcrypto.zip') });
    const members: ArchiveMember[] = [];
    for await (const member of archive.members()) members.push(member);
    await archive.close();
    expect(members.find(({ name }) => name === 'files/one.txt')).toMatchObject({
      declaredSize: 4,
      isEncrypted: true,
      within: [],
    });
    expect(
      members.every(({ modifiedAt }) => modifiedAt && Math.abs(Date.now() - modifiedAt.getTime()) < 86_400_000),
    ).toBe(true);
  });

  test.each(['gnu.tar', 'gnu.tar.gz', 'plain.zip'])('members of %s may be left unread or half read', async (file) => {
    const archive = await openArchive({ path: join(folder, file) });
    const names: string[] = [];
    for await (const member of archive.members()) {
      names.push(member.name);
      if (names.length % 2) continue;
      const stream = member.open();
      await stream[Symbol.asyncIterator]().next();
      stream.destroy();
    }
    await archive.close();
    expect(names.sort()).toEqual([...truth.keys()].sort());
  });

  test('reading may stop at any member, and close frees the file', async () => {
    const before = (await readdir('/proc/self/fd')).length;
    for (const file of ['gnu.tar', 'gnu.tar.gz', 'plain.zip', 'random.bin.gz']) {
      const archive = await openArchive({ path: join(folder, file) });
      for await (const member of archive.members()) {
        member.open();
        break;
      }
      await archive.close();
    }
    await expect.poll(async () => (await readdir('/proc/self/fd')).length).toBe(before);
  });
});

describe('archives inside archives', () => {
  test('are members by default', async () => {
    const path = join(folder, 'outer.tar');
    await writeFile(path, tarBytes([{ name: 'inner.zip', content: zipBytes([{ name: 'a' }]) }]));
    expect((await verifyArchive({ path })).members.map(({ name }) => name)).toEqual(['inner.zip']);
  });

  test('are walked where that is wanted, if name and content both say so', async () => {
    await make('tar', '-cf', 'nested.tar', 'plain.zip', 'gnu.tar.gz', 'random.bin.gz');
    const { members } = await verifyArchive({ path: join(folder, 'nested.tar') }, { nested: 'open' });
    expect(
      members
        .filter(({ within }) => within[0] === 'plain.zip')
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...truth.keys()].sort());
    expect(members.filter(({ within }) => within[0] === 'gnu.tar.gz')).toHaveLength(truth.size);
    expect(members.filter(({ within }) => within[0] === 'random.bin.gz')).toEqual([
      { name: 'random.bin', within: ['random.bin.gz'], size: 300_000 },
    ]);
  });

  test('that only pretend to be archives, or hide that they are, stay members', async () => {
    const path = join(folder, 'pretend.zip');
    const members = [
      { name: 'text.zip', content: Buffer.from('no zip') },
      { name: 'document.docx', content: zipBytes([{ name: 'a' }]) },
    ];
    await writeFile(path, zipBytes(members));
    const found = await verifyArchive({ path }, { nested: 'open' });
    expect(found.members.map(({ name, size }) => [name, size])).toEqual([
      ['text.zip', 6],
      ['document.docx', members[1]?.content.length],
    ]);
  });
});

describe('an upload that is not as long as announced', () => {
  test.each([
    [-1, 'SIZE_MISMATCH'],
    [1, 'TRUNCATED_ARCHIVE'],
  ])('by %i byte is refused', async (difference, code) => {
    for (const file of ['plain.zip', 'gnu.tar', 'gnu.tar.gz', 'random.bin.gz']) {
      const bytes = await readFile(join(folder, file));
      const source = { stream: Readable.from([bytes], { objectMode: false }), size: bytes.length + difference };
      await expect(verifyArchive(source)).rejects.toMatchObject({ code });
    }
  });
});

describe('the stream of an upload', () => {
  test('is destroyed when the archive is refused or closed', async () => {
    const picture = Readable.from([Buffer.alloc(5000, 'picture')], { objectMode: false });
    await expect(openArchive({ stream: picture, size: 5000 })).rejects.toMatchObject({ code: 'NOT_AN_ARCHIVE' });
    expect(picture.destroyed).toBe(true);
    for (const file of ['gnu.tar', 'gnu.tar.gz', 'random.bin.gz', 'plain.zip']) {
      const stream = createReadStream(join(folder, file));
      const archive = await openArchive({ stream, size: (await stat(join(folder, file))).size });
      await archive.members().next();
      await archive.close();
      await expect.poll(() => stream.destroyed).toBe(true);
    }
  });
});

describe('damage at random', () => {
  const small = [
    zipBytes([{ name: 'a', content: Buffer.from('text '.repeat(20)), method: 8 }, { name: 'b/c' }]),
    tarBytes([
      { name: 'a', content: Buffer.from('text '.repeat(20)) },
      { name: 'b', type: '5' },
    ]),
  ];

  test('is read or refused within limits, never anything else', async () => {
    const gz = await readFile(join(folder, 'gnu.tar.gz'));
    const change = fc.record({ at: fc.nat(), value: fc.integer({ min: 0, max: 255 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...small, gz),
        fc.array(change, { minLength: 1, maxLength: 5 }),
        async (bytes, changes) => {
          const spoiled = Buffer.from(bytes);
          for (const { at, value } of changes) spoiled.writeUInt8(value, at % spoiled.length);
          const source = { stream: Readable.from([spoiled], { objectMode: false }), size: spoiled.length };
          await verifyArchive(source, { limits: { maxBytes: 2_000_000 } }).catch((error: unknown) => {
            expect(error).toBeInstanceOf(ArchiveError);
          });
        },
      ),
      { numRuns: 400 },
    );
  });
});
