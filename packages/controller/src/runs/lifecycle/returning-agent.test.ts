import type { HeldRun } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { agentOf, outcomeOf, runOf } from '../testing/views.ts';
import { reconcileReturningAgent } from './returning-agent.ts';

const held = (state: HeldRun['state'], members: Partial<HeldRun> = {}): HeldRun => ({
  ...{ runId: 1, epoch: 1, state, orders: [{ lastSeq: 3, outcome: null }], endedByDeadMan: false },
  ...members,
});
const whole = { orders: [{ lastSeq: 3, outcome: outcomeOf({ lastSeq: 3 }) }] };
const back = (status: number, state: string, given: HeldRun | undefined, bootId = 'boot') =>
  reconcileReturningAgent(runOf({ status }), agentOf(1, state), { bootId, held: given });

describe('an agent that is back as the same process', () => {
  it.each([
    ['preparing', 2, 'prepared', 'prepared'],
    ['armed', 3, 'running', 'running'],
    ['running', 4, 'running', 'running'],
    ['running', 5, 'paused', 'paused'],
    ['lost', 4, 'running', 'running'],
    ['running', 4, 'ended', 'ended'],
  ] as const)('and was %s in state %i, holding it %s, is %s', (before, status, holds, after) => {
    const { agent, lostBecause } = back(status, before, held(holds));
    expect([agent.state, lostBecause]).toEqual([after, undefined]);
  });
  it('has not missed its start for good', () => {
    expect(back(3, 'armed', held('prepared')).agent.state).toBe('armed');
  });
  it('brings the outcomes of its jobs', () => {
    expect(back(4, 'running', held('ended', whole)).agent.orders[0]?.outcome).toEqual(whole.orders[0]?.outcome);
  });
  it('and does not know the run is asked to prepare again, or is lost to it', () => {
    expect(back(2, 'prepared', undefined).agent.state).toBe('preparing');
    expect(back(4, 'running', undefined).lostBecause).toMatch(/no longer knows/);
    expect(back(6, 'preparing', undefined).agent.state).toBe('ended');
    expect(back(6, 'running', undefined).lostBecause).toMatch(/no longer knows/);
  });
  it('and had ended already need not know it', () => {
    expect(back(6, 'ended', undefined)).toEqual({ agent: agentOf(1, 'ended') });
  });
  it('and ended by itself is lost, unless the run ends anyway', () => {
    const given = held('ended', { ...whole, endedByDeadMan: true });
    expect(back(4, 'running', given).lostBecause).toMatch(/by itself/);
    expect(back(6, 'running', given)).toMatchObject({ agent: { state: 'ended' }, wasDeadMan: true });
  });
});

describe('an agent that is back as another process', () => {
  it('is lost, whatever it holds', () => {
    expect(back(4, 'running', held('running'), 'other').lostBecause).toMatch(/restarted/);
    expect(back(2, 'prepared', undefined, 'other').lostBecause).toMatch(/restarted/);
  });
  it('is not, when all its results are on its disk and the run is being collected', () => {
    expect(back(6, 'running', held('ended', whole), 'other').agent.state).toBe('ended');
    expect(back(6, 'running', held('ended'), 'other').lostBecause).toMatch(/restarted/);
  });
});
