import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AgentBooking, conflictsOf } from './conflicts.ts';

const minute = 60_000;
const task = (taskId: number, agentIds: number[], starts: number[], lengthMs = minute): AgentBooking => ({
  taskId,
  agentIds,
  starts,
  lengthMs,
});

describe('conflicts', () => {
  it('are where the same agent is used at the same time', () => {
    const own = task(1, [7, 8], [0, 10 * minute]);
    const found = conflictsOf(own, [task(2, [8, 9], [30_000]), task(3, [7], [5 * minute]), own]);
    expect(found).toEqual([{ taskID: 2, agentID: 8, at: new Date(30_000).toISOString() }]);
  });

  it('are the same as those found by comparing everything with everything', () => {
    const starts = fc
      .array(
        fc.nat(3600).map((second) => second * 1000),
        { maxLength: 8 },
      )
      .map((list) => list.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(
        starts,
        starts,
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 600 }),
        (a, b, first, second) => {
          const own = task(1, [1], a, first * 1000);
          const other = task(2, [1], b, second * 1000);
          const slow = a.flatMap((start) =>
            b.filter((at) => at < start + own.lengthMs + 10_000 && start < at + other.lengthMs + 10_000),
          );
          expect(conflictsOf(own, [other])).toHaveLength(slow.length);
        },
      ),
    );
  });
});
