import type { AttackResult } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { compareResults } from './attack-values.ts';
import { rateOf, rates } from './rates.ts';

type Judged = Parameters<typeof rates>[0][number] & Pick<AttackResult, 'mechanism'>;

const result = (outcome: AttackResult['outcome'], more: Partial<Judged> = {}): Judged => ({
  kind: 'waf',
  refID: 1,
  refName: 'one',
  variant: 'plain/url-param',
  severity: 'high',
  expected: 'block',
  outcome,
  detected: 'unknown',
  durationMs: 5,
  startedAt: '2026-01-01T00:00:10.000Z',
  mechanism: outcome === 'blocked' ? 'block-page' : null,
  ...more,
});
const many = (count: number, outcome: AttackResult['outcome'], more: Partial<Judged> = {}) =>
  Array.from({ length: count }, () => result(outcome, more));

describe('rates', () => {
  it('have the interval of Wilson', () => {
    // Values of Newcombe (1998), table of method 3.
    expect(rateOf(81, 263).ci95?.map((value) => value.toFixed(4))).toEqual(['0.2553', '0.3662']);
    expect(rateOf(0, 20).ci95?.map((value) => value.toFixed(4))).toEqual(['0.0000', '0.1611']);
    expect(rateOf(1, 29).ci95?.map((value) => value.toFixed(4))).toEqual(['0.0061', '0.1718']);
    expect(rateOf(0, 0)).toMatchObject({ value: null, ci95: null });
    expect(rateOf(5, 9).isGraded).toBe(false);
  });

  it('leave out what was not decided, and say how much that was', () => {
    const found = rates([
      ...many(6, 'blocked'),
      ...many(2, 'passed'),
      ...many(4, 'inconclusive'),
      ...many(3, 'skipped'),
      ...many(9, 'passed', { kind: 'benign' }),
      ...many(1, 'blocked', { kind: 'benign' }),
    ]);
    expect(found.blockRate).toMatchObject({ value: 0.75, n: 8 });
    expect(found.falsePositiveRate).toMatchObject({ value: 0.1, n: 10 });
    expect(found.balancedScore).toBeCloseTo((0.75 + 0.9) / 2);
    expect(found.coverage).toMatchObject({ value: 18 / 22, n: 22 });
    expect(found.attacks).toMatchObject({ attempts: 15, skipped: 3 });
  });

  it('give a device that blocks nothing half the score, not all of it', () => {
    const found = rates([...many(575, 'passed'), ...many(33_094, 'passed', { kind: 'benign' })]);
    expect(found.balancedScore).toBe(0.5);
  });

  it('tell the latency of harmless requests before the first attack apart from that among attacks', () => {
    const at = (second: number, durationMs: number) =>
      result('passed', { kind: 'benign', startedAt: `2026-01-01T00:00:0${second}.000Z`, durationMs });
    const attack = result('blocked', { startedAt: '2026-01-01T00:00:05.000Z', durationMs: 500 });
    const found = rates([at(1, 10), at(2, 20), at(4, 1001), attack, at(6, 70), at(7, 90)]);
    expect(found.quietLatencyMs).toEqual({ p50: 10, p95: 20, p99: 20 });
    // The one that was still under way is one of those among attacks.
    expect(found.benignLatencyMs).toEqual({ p50: 90, p95: 1001, p99: 1001 });
    expect(rates([at(1, 10)]).quietLatencyMs).toBeNull();
    expect(rates([at(1, 10)]).benignLatencyMs).toEqual({ p50: 10, p95: 10, p99: 10 });
  });

  it('count changed content as the policy says', () => {
    const results = [...many(5, 'modified'), ...many(5, 'passed')];
    expect(rates(results, 'blocked').blockRate.value).toBe(0.5);
    expect(rates(results, 'passed').blockRate.value).toBe(0);
    expect(rates(results, 'own').blockRate).toMatchObject({ value: 0, n: 10 });
  });

  it('weigh by severity and tell resistance to other forms', () => {
    const found = rates([
      result('blocked', { severity: 'critical' }),
      result('passed', { severity: 'critical', variant: 'url-double/url-param' }),
      result('blocked', { refID: 2, severity: 'low' }),
      result('blocked', { refID: 2, severity: 'low', variant: 'base64/url-param' }),
    ]);
    expect(found.weightedBlockRate).toBeCloseTo(12 / 22);
    expect(found.evasionResistance).toMatchObject({ value: 0.5, n: 2 });
  });
});

describe('comparison with an earlier run', () => {
  it('tells what newly passed, is newly blocked, or is blocked otherwise', () => {
    const before = [
      result('blocked'),
      result('passed', { refID: 2 }),
      result('blocked', { refID: 3 }),
      result('error', { refID: 4 }),
    ];
    const after = [
      result('passed'),
      result('blocked', { refID: 2 }),
      result('blocked', { refID: 3, mechanism: 'tcp-reset' }),
      result('passed', { refID: 4 }),
    ];
    const found = compareResults(before, after);
    expect(found.newlyPassed).toMatchObject([{ refID: 1, before: 'blocked (block-page)', after: 'passed' }]);
    expect(found.newlyBlocked).toMatchObject([{ refID: 2 }]);
    expect(found.changedMechanism).toMatchObject([{ refID: 3, after: 'blocked (tcp-reset)' }]);
    expect(found.incomparable).toBe(1);
  });
});
