import { expect, it } from 'vitest';
import { Turns } from './iteration-quota.ts';

it('lets the event loop turn under an endless chain of actions', async () => {
  const turns = new Turns(10);
  let passed = 0;
  let isOver = false;
  const chain = () => {
    passed++;
    if (!isOver) process.nextTick(() => turns.pass(chain));
  };
  for (let chains = 0; chains < 3; chains++) turns.pass(chain);
  await new Promise((resolve) => setTimeout(resolve, 50));
  isOver = true;
  expect(passed).toBeGreaterThan(100);
  const atEnd = passed;
  await new Promise((resolve) => setTimeout(resolve, 20));
  // The three chains each end where they are.
  expect(passed - atEnd).toBeLessThanOrEqual(3);
});
