import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentForRun } from '../../store/runs/run-queue.ts';
import { movesOf, type QueueFacts, type WaitingRun } from './queue.ts';

const now = '2026-01-01T12:00:00.000Z';
const agent = (id: number, members: Partial<AgentForRun> = {}): AgentForRun => ({
  ...{ id, name: `agent-${id}`, isBlocked: false, isDeleted: false, maxConcurrentTasks: 1, activeRuns: 0 },
  ...{ reservedBy: null, reservedUntil: null, ownerEmail: null, needsReset: false, bootId: '' },
  ...members,
});
const run = (id: number, agentIds: number[], members: Partial<WaitingRun> = {}): WaitingRun => ({
  ...{ id, agentIds, startedBy: 1, notBefore: null, deadlineAt: '2026-01-01T13:00:00.000Z' },
  ...members,
});
const facts = (agents: AgentForRun[], members: Partial<QueueFacts> = {}): QueueFacts => ({
  ...{ now, freeSlots: 10, isOnline: () => true, agents: new Map(agents.map((one) => [one.id, one])) },
  ...members,
});
const begun = (waiting: WaitingRun[], given: QueueFacts) =>
  movesOf(waiting, given).flatMap((move) => (move.kind === 'begin' ? [move.runId] : []));

describe('a run begins', () => {
  it('when its agents are there, free and clean, and there is a place', () => {
    expect(begun([run(1, [1, 2])], facts([agent(1), agent(2)]))).toEqual([1]);
    expect(begun([run(1, [1, 2])], facts([agent(1), agent(2, { activeRuns: 1 })]))).toEqual([]);
    expect(begun([run(1, [1])], facts([agent(1, { activeRuns: 9, maxConcurrentTasks: 0 })]))).toEqual([1]);
    expect(begun([run(1, [1])], facts([agent(1, { needsReset: true })]))).toEqual([]);
    expect(begun([run(1, [1])], facts([agent(1)], { isOnline: () => false }))).toEqual([]);
    expect(begun([run(1, [1])], facts([agent(1)], { freeSlots: 0 }))).toEqual([]);
  });
  it('not before its time', () => {
    expect(begun([run(1, [1], { notBefore: '2026-01-01T12:00:00.001Z' })], facts([agent(1)]))).toEqual([]);
    expect(begun([run(1, [1], { notBefore: now })], facts([agent(1)]))).toEqual([1]);
  });
  it('on agents that are reserved for its own starter, or no longer', () => {
    const reserved = { reservedBy: 2, reservedUntil: '2026-01-01T12:30:00.000Z' };
    expect(begun([run(1, [1])], facts([agent(1, reserved)]))).toEqual([]);
    expect(begun([run(1, [1], { startedBy: 2 })], facts([agent(1, reserved)]))).toEqual([1]);
    expect(begun([run(1, [1])], facts([agent(1, { ...reserved, reservedUntil: now })]))).toEqual([1]);
  });
});

describe('the order of the queue', () => {
  it('is kept on agents that several want', () => {
    expect(begun([run(1, [1]), run(2, [1])], facts([agent(1)]))).toEqual([1]);
  });
  it('lets others pass on agents that nobody before them waits for', () => {
    const agents = [agent(1, { activeRuns: 1 }), agent(2), agent(3)];
    expect(begun([run(1, [1, 2]), run(2, [2]), run(3, [3])], facts(agents))).toEqual([3]);
  });
  it('holds no place for a run whose agents are not there', () => {
    const given = facts([agent(1), agent(2)], { isOnline: (id) => id === 2 });
    expect(begun([run(1, [1, 2]), run(2, [2])], given)).toEqual([2]);
  });
});

describe('a run is given up', () => {
  it.each([
    ['removed', [agent(1, { isDeleted: true })]],
    ['removed', []],
    ['blocked', [agent(1, { isBlocked: true })]],
  ])('when an agent was %s', (what, agents) => {
    const moves = movesOf([run(1, [1])], facts(agents));
    expect(moves).toMatchObject([{ kind: 'fail', reason: 'agentLost', error: expect.stringContaining(what) }]);
  });
  it('when it has waited too long', () => {
    expect(movesOf([run(1, [1], { deadlineAt: now })], facts([agent(1)]))).toMatchObject([{ reason: 'queueTimeout' }]);
  });
});

it('never begins more than there are places, in all and on each agent', () => {
  const requests = fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }), {
    maxLength: 12,
  });
  const limits = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(requests, limits, fc.integer({ min: 0, max: 6 }), (lists, maxima, freeSlots) => {
      const agents = maxima.map((maxConcurrentTasks, i) => agent(i + 1, { maxConcurrentTasks }));
      const waiting = lists.map((ids, i) => run(i + 1, ids));
      const chosen = begun(waiting, facts(agents, { freeSlots }));
      expect(chosen.length).toBeLessThanOrEqual(freeSlots);
      for (const { id, maxConcurrentTasks } of agents) {
        const uses = chosen.filter((runId) => lists[runId - 1]?.includes(id)).length;
        expect(uses).toBeLessThanOrEqual(maxConcurrentTasks);
      }
    }),
  );
});
