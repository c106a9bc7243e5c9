import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { openStream, sealStream } from './sealed-stream.ts';

const key = randomBytes(32);
const inChunks = (bytes: Buffer, length: number) =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / length) }, (_, n) => bytes.subarray(n * length, (n + 1) * length)),
  );
const seal = (bytes: Buffer, chunk = 10_007) => buffer(Readable.from(sealStream(key, inChunks(bytes, chunk))));
const open = (bytes: Buffer, chunk = 9973, with_ = key) =>
  buffer(Readable.from(openStream(with_, inChunks(bytes, chunk))));

describe('sealed content', () => {
  it.each([0, 1, 65_535, 65_536, 65_537, 131_072, 300_000])(
    'of %i bytes comes back, however it is cut',
    async (size) => {
      const bytes = randomBytes(size);
      const sealed = await seal(bytes);
      expect(sealed.length).toBe(size + 16 * Math.max(1, Math.ceil(size / 65_536)));
      expect((await open(sealed)).equals(bytes)).toBe(true);
      expect((await open(await seal(bytes, 1_000_000), 1_000_000)).equals(bytes)).toBe(true);
    },
  );

  it('shows nothing of the content', async () => {
    const sealed = await seal(Buffer.alloc(200_000, 'a line that would be seen '));
    expect(sealed.includes('would be seen')).toBe(false);
  });

  it.each([
    ['another key', (sealed: Buffer) => open(sealed, 9973, randomBytes(32))],
    [
      'a changed byte',
      (sealed: Buffer) => open(Buffer.concat([Buffer.from([255 - (sealed[0] ?? 0)]), sealed.subarray(1)])),
    ],
    ['its last piece cut off', (sealed: Buffer) => open(sealed.subarray(0, 2 * 65_552))],
    ['a few bytes cut off', (sealed: Buffer) => open(sealed.subarray(0, -3))],
    [
      'two pieces exchanged',
      (sealed: Buffer) =>
        open(Buffer.concat([sealed.subarray(65_552, 131_104), sealed.subarray(0, 65_552), sealed.subarray(131_104)])),
    ],
    ['bytes behind it', (sealed: Buffer) => open(Buffer.concat([sealed, Buffer.alloc(20)]))],
    ['nothing left of it', () => open(Buffer.alloc(0))],
  ])('does not open with %s', async (_, reading) => {
    await expect(reading(await seal(randomBytes(200_000)))).rejects.toMatchObject({ code: 'CORRUPT' });
  });
});
