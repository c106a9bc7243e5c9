import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createHashPool } from './hash-pool.ts';

const shared = (bytes: Uint8Array) => {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
};
const expected = (bytes: Uint8Array) => {
  const hex = (algorithm: string) => createHash(algorithm).update(bytes).digest('hex');
  return { md5: hex('md5'), sha1: hex('sha1'), sha256: hex('sha256'), sha3_384: hex('sha3-384') };
};

test.each([1, 2, 3])('contents hashed at once on %i threads do not mix', async (threads) => {
  const pool = createHashPool({ threads });
  const contents = Array.from({ length: 9 }, (_, n) => randomBytes(1000 * n));
  const digests = await Promise.all(
    contents.map(async (bytes) => {
      const job = await pool.open();
      for (let at = 0; at < bytes.length; at += 700) await job.update(shared(bytes.subarray(at, at + 700)));
      return job.digest().finally(job.close);
    }),
  );
  expect(digests).toEqual(contents.map(expected));
  await pool.close();
});

test('a place is free again when its job is closed, finished or not', async () => {
  const pool = createHashPool({ concurrency: 1 });
  const first = await pool.open();
  await first.update(shared(Buffer.from('never finished')));
  let isOpen = false;
  const second = pool.open().then((job) => {
    isOpen = true;
    return job;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(isOpen).toBe(false);
  first.close();
  expect(await (await second).digest()).toEqual(expected(Buffer.alloc(0)));
  await pool.close();
});

test('closing the pool fails what is under way', async () => {
  const pool = createHashPool();
  const job = await pool.open();
  const digest = job.digest();
  const failed = expect(digest).rejects.toThrow('closed');
  await pool.close();
  await failed;
});

test('threads that are gone are started anew by the next content', async () => {
  const pool = createHashPool();
  await pool.close();
  const job = await pool.open();
  await job.update(shared(Buffer.from('again')));
  expect(await job.digest()).toEqual(expected(Buffer.from('again')));
  await pool.close();
});
