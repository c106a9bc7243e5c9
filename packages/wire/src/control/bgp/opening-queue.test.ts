import { expect, it } from 'vitest';
import { OpeningQueue } from './opening-queue.ts';

const queueOf = (count: number) => {
  const queue = new OpeningQueue({ limit: 2, holdMs: 100 });
  const begun: number[] = [];
  const openings = Array.from({ length: count }, (_, i) => queue.request(() => begun.push(i)));
  return { queue, begun, openings };
};

it('opens a few connections at a time, in the order of their requests', () => {
  const { queue, begun, openings } = queueOf(5);
  queue.advance(0);
  expect(begun).toEqual([0, 1]);
  openings[1]?.end();
  queue.advance(10);
  expect(begun).toEqual([0, 1, 2]);
});

it('does not wait longer than the hold time for an answer', () => {
  const { queue, begun } = queueOf(5);
  queue.advance(0);
  queue.advance(99);
  expect(begun).toEqual([0, 1]);
  queue.advance(100);
  expect(begun).toEqual([0, 1, 2, 3]);
});

it('does not begin what is no longer wanted', () => {
  const { queue, begun, openings } = queueOf(3);
  openings[0]?.end();
  queue.advance(0);
  expect(begun).toEqual([1, 2]);
});
