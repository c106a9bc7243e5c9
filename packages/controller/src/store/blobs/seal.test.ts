import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chunkBytes, createSealer, openSealed, plainSizeOf, sealedSizeOf } from './seal.ts';

const key = randomBytes(32);
const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const seal = (plain: Buffer) => {
  const sealed = Buffer.alloc(sealedSizeOf(plain.length));
  const sealer = createSealer(key);
  for (let at = 0; at < plain.length; at += 2 * chunkBytes) {
    const piece = plain.subarray(at, at + 2 * chunkBytes);
    const { bytes, position } = sealer.seal(piece, Buffer.alloc(sealedSizeOf(piece.length)));
    bytes.copy(sealed, position);
  }
  sealer.header(plain.length, sha256Of(plain)).copy(sealed, 0);
  return sealed;
};
const reader = (sealed: Buffer) => async (start: number, end: number) => Readable.from([sealed.subarray(start, end)]);
const openAll = async (sealed: Buffer, sha256: string, withKey: Uint8Array = key) =>
  Buffer.concat(await (await openSealed(reader(sealed), withKey, sha256)).toArray());

const plain = randomBytes(3 * chunkBytes + 100);
const sealed = seal(plain);
const sha256 = sha256Of(plain);

test('every range of every size reads back as it was', async () => {
  const sized = fc
    .integer({ min: 0, max: 3 * chunkBytes + 7 })
    .chain((size) =>
      fc.tuple(fc.constant(size), fc.integer({ min: 0, max: size + 5 }), fc.integer({ min: 0, max: size + 5 })),
    );
  await fc.assert(
    fc.asyncProperty(sized, async ([size, start, end]) => {
      const bytes = plain.subarray(0, size);
      const kept = seal(bytes);
      expect(plainSizeOf(kept.length)).toBe(size);
      const read = await (await openSealed(reader(kept), key, sha256Of(bytes), { start, end })).toArray();
      expect(Buffer.concat(read).equals(bytes.subarray(start, end))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('nothing of the content shows through', () => {
  expect(seal(Buffer.alloc(4096, 'secret ')).includes('secret')).toBe(false);
});

test.each([
  ['a changed byte in the header', (bytes: Buffer) => bytes.fill((bytes[20] ?? 0) ^ 1, 20, 21)],
  ['a changed size in the header', (bytes: Buffer) => bytes.fill(9, 31, 32)],
  ['a changed byte of content', (bytes: Buffer) => bytes.fill((bytes[100_000] ?? 0) ^ 1, 100_000, 100_001)],
  ['a cut inside a chunk', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
  ['a missing last chunk', (bytes: Buffer) => bytes.subarray(0, 48 + 3 * (chunkBytes + 16))],
  [
    'exchanged chunks',
    (bytes: Buffer) => {
      const first = Buffer.from(bytes.subarray(48, 48 + chunkBytes + 16));
      bytes.copyWithin(48, 48 + chunkBytes + 16, 48 + 2 * (chunkBytes + 16));
      first.copy(bytes, 48 + chunkBytes + 16);
      return bytes;
    },
  ],
  ['no content at all', () => Buffer.alloc(0)],
])('%s does not open', async (_what, damage) => {
  await expect(openAll(damage(Buffer.from(sealed)), sha256)).rejects.toMatchObject({ code: 'CORRUPT' });
});

test('another key, or the name of other content, does not open', async () => {
  expect((await openAll(sealed, sha256)).equals(plain)).toBe(true);
  await expect(openAll(sealed, sha256, randomBytes(32))).rejects.toMatchObject({ code: 'CORRUPT' });
  await expect(openAll(sealed, sha256Of(Buffer.from('other')))).rejects.toMatchObject({ code: 'CORRUPT' });
});
