import { expect, it } from 'vitest';
import { IterationQuota } from './node-datagram-transport.ts';

it('keeps the event loop running under an endless chain of actions', async () => {
  const quota = new IterationQuota(10);
  let passed = 0;
  let isOver = false;
  const chain = () => {
    passed++;
    if (!isOver) process.nextTick(() => quota.run(chain));
  };
  for (let chains = 0; chains < 3; chains++) quota.run(chain);
  await new Promise((resolve) => setTimeout(resolve, 50));
  isOver = true;
  expect(passed).toBeGreaterThan(100);
  const atEnd = passed;
  await new Promise((resolve) => setTimeout(resolve, 20));
  // The three chains each end where they are.
  expect(passed - atEnd).toBeLessThanOrEqual(3);
});
