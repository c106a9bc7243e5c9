import { expect, test } from 'vitest';
import { createPermits, createSemaphore } from './semaphore.ts';

test('no more than the given number run together, in order, and a failure releases its permit', async () => {
  const limited = createSemaphore(2);
  const started: number[] = [];
  let running = 0;
  let max = 0;
  const work = (n: number) => async () => {
    started.push(n);
    running += 1;
    max = Math.max(max, running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    if (n % 3 === 0) throw new Error(`${n}`);
    return n;
  };
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  const results = await Promise.allSettled(numbers.map((n) => limited(work(n))));
  expect(results.map(({ status }) => status)).toEqual(numbers.map((n) => (n % 3 === 0 ? 'rejected' : 'fulfilled')));
  expect(started).toEqual(numbers);
  expect(max).toBe(2);
});

test('permits are granted in order, and releasing one twice has no effect', async () => {
  const permits = createPermits(2);
  const granted: number[] = [];
  const acquire = async (n: number) => {
    const release = await permits.acquire();
    granted.push(n);
    return release;
  };
  const [releaseFirst] = await Promise.all([acquire(1), acquire(2)]);
  const third = acquire(3);
  const fourth = acquire(4);
  await Promise.resolve();
  expect(granted).toEqual([1, 2]);
  releaseFirst();
  releaseFirst();
  const releaseThird = await third;
  expect(granted).toEqual([1, 2, 3]);
  releaseThird();
  await fourth;
  expect(granted).toEqual([1, 2, 3, 4]);
});

test('a caller that stops waiting lets the next one proceed', async () => {
  const permits = createPermits(1);
  const release = await permits.acquire();
  const giveUp = new AbortController();
  const second = permits.acquire(giveUp.signal);
  const third = permits.acquire();
  giveUp.abort(new Error('gone'));
  await expect(second).rejects.toThrow('gone');
  release();
  expect(await third).toBeTypeOf('function');
  await expect(permits.acquire(AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
});
