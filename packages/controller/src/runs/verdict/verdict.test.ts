import { type ThresholdResult, verdicts } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { agentOf, outcomeOf, viewOf } from '../testing/views.ts';
import { decideVerdict, shortened } from './verdict.ts';

const failed: ThresholdResult = {
  name: 'fast',
  metric: 'http.latency',
  aggregation: 'p99',
  operator: '<',
  value: 1,
  actual: 2,
  outcome: 'failed',
  breachedAt: null,
};

describe('a load that was not reached', () => {
  const viewWith = (limit: 'processor' | 'peer') =>
    viewOf(
      {},
      agentOf(1, 'ended', {
        outcome: outcomeOf({ shortfall: { wanted: 1000, begun: 60, limit, evidence: 'the evidence' } }),
      }),
    );

  it('makes the result invalid and names the limit and how it is known', () => {
    const { validity, verdict } = decideVerdict(viewWith('peer'), [], []);
    expect(validity).toEqual({
      valid: false,
      reasons: ['agent-1: http reached 6.0 % of the target load (60 of 1000); the limit was the peer: the evidence'],
    });
    expect(verdict).toBe(verdicts.inconclusive);
  });

  it('fails thresholds only when the agent was not the limit', () => {
    expect(decideVerdict(viewWith('peer'), [failed], []).verdict).toBe(verdicts.failed);
    expect(decideVerdict(viewWith('processor'), [failed], []).verdict).toBe(verdicts.inconclusive);
  });
});

describe('a run that was cut off', () => {
  const stopped = agentOf(1, 'ended', { outcome: outcomeOf({ status: 'stopped' }) });

  it('says how much of it was measured', () => {
    const [reason] = shortened(viewOf({ stopReason: 'duration', plannedSec: 10 }, stopped), 3);
    expect(reason).toBe('3 of 10 planned seconds were measured: agent-1 (http) was stopped early');
  });

  it('is one whose clients did not reach their own end', () => {
    const finished = agentOf(1, 'ended', { outcome: outcomeOf() });
    expect(shortened(viewOf({ stopReason: 'duration', plannedSec: 10 }, finished), 3)).toEqual([]);
    expect(shortened(viewOf({ stopReason: 'user', plannedSec: 10 }, stopped), 3)).toEqual([]);
  });
});
