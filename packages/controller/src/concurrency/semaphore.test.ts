import { expect, test } from 'vitest';
import { createSemaphore } from './semaphore.ts';

test('no more than the given number run together, in order, and a failure releases its permit', async () => {
  const limited = createSemaphore(2);
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const work = (n: number) => async () => {
    started.push(n);
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    if (n % 3 === 0) throw new Error(`${n}`);
    return n;
  };
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  const results = await Promise.allSettled(numbers.map((n) => limited(work(n))));
  expect(results.map(({ status }) => status)).toEqual(numbers.map((n) => (n % 3 === 0 ? 'rejected' : 'fulfilled')));
  expect(started).toEqual(numbers);
  expect(most).toBe(2);
});
