import type { Threshold } from '@rushhour/contract';
import { verdicts } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { agentOf, outcomeOf, viewOf } from '../testing/views.ts';
import { breachesOf, evaluate, holds, type MetricQuery } from './thresholds.ts';
import { decideVerdict } from './verdict.ts';

const threshold = (members: Partial<Threshold> = {}): Threshold => ({
  ...{ name: 'fast', metric: 'http.latency', aggregation: 'p99', operator: '<', value: 100 },
  ...members,
});
const now = '2026-01-01T00:00:00.000Z';
const reading = (value: number | undefined) => ({ value: () => value });
const results = (list: Threshold[], value: number | undefined) =>
  evaluate(1, list, reading(value), { breaches: [], now });

describe('a comparison', () => {
  it.each([
    ['<', [true, false, false]],
    ['<=', [true, true, false]],
    ['>', [false, false, true]],
    ['>=', [false, true, true]],
    ['==', [false, true, false]],
    ['!=', [true, false, true]],
  ] as const)('%s', (operator, outcomes) => {
    expect([99, 100, 101].map((actual) => holds(threshold({ operator }), actual))).toEqual(outcomes);
  });
});

describe('an evaluation', () => {
  it('asks for what the threshold says, steady unless said otherwise', async () => {
    const asked: MetricQuery[] = [];
    const reader = { value: (query: MetricQuery) => void asked.push(query) as undefined };
    const window = { fromSec: 2, toSec: 5 };
    const list = [threshold(), threshold({ scope: { agentID: 3 }, window, aggregation: 'max' })];
    await evaluate(7, list, reader, { breaches: [], now });
    expect(asked).toEqual([
      { runId: 7, metric: 'http.latency', aggregation: 'p99', scope: {}, window: 'steady' },
      { runId: 7, metric: 'http.latency', aggregation: 'max', scope: { agentID: 3 }, window },
    ]);
  });
  it('says what was measured and whether it holds', async () => {
    expect(await results([threshold()], 50)).toMatchObject([{ actual: 50, outcome: 'passed', breachedAt: null }]);
    expect(await results([threshold()], 150)).toMatchObject([{ actual: 150, outcome: 'failed', breachedAt: now }]);
    expect(await results([threshold()], undefined)).toMatchObject([{ actual: null, outcome: 'noData' }]);
  });
  it('keeps what was breached during the run, even when it held in the end', async () => {
    const breaches = [{ index: 0, actual: 300, at: '2025-12-31T23:59:59.000Z' }];
    const [result] = await evaluate(1, [threshold()], reading(50), { breaches, now });
    expect(result).toMatchObject({ actual: 300, outcome: 'failed', breachedAt: breaches[0]?.at });
  });
});

describe('during the run', () => {
  const breaches = (members: Partial<Threshold>, value: number | undefined, elapsedSec = 10) =>
    breachesOf(1, [threshold(members)], reading(value), { elapsedSec, now });
  it('only thresholds that say so end it, and not before their delay', async () => {
    expect(await breaches({}, 500)).toEqual([]);
    expect(await breaches({ abortOnFail: true, delayAbortSec: 11 }, 500)).toEqual([]);
    expect(await breaches({ abortOnFail: true, delayAbortSec: 10 }, 500)).toEqual([{ index: 0, actual: 500, at: now }]);
  });
  it('what holds or has no data ends nothing', async () => {
    expect(await breaches({ abortOnFail: true }, 50)).toEqual([]);
    expect(await breaches({ abortOnFail: true, onNoData: 'fail' }, undefined)).toEqual([]);
  });
});

describe('a verdict', () => {
  const verdictOf = async (
    list: Threshold[],
    value: number | undefined,
    view = viewOf({}, agentOf(1, 'ended')),
    problems: string[] = [],
  ) => decideVerdict(view, await results(list, value), problems);
  const saturated = (seconds: number, lastSeq = 100) =>
    viewOf(
      {},
      agentOf(1, 'ended', { outcome: outcomeOf({ lastSeq, saturatedSeconds: { cpu: seconds, scheduleLag: 1 } }) }),
    );

  it('needs thresholds', async () => {
    expect(await verdictOf([], 1)).toEqual({ verdict: verdicts.none, validity: { valid: true, reasons: [] } });
    expect((await verdictOf([threshold()], 50)).verdict).toBe(verdicts.passed);
    expect((await verdictOf([threshold()], 150)).verdict).toBe(verdicts.failed);
  });
  it('is not failed by warnings', async () => {
    expect((await verdictOf([threshold({ severity: 'warn' })], 150)).verdict).toBe(verdicts.passed);
    expect((await verdictOf([threshold({ severity: 'warn' })], undefined)).verdict).toBe(verdicts.passed);
  });
  it.each([
    [undefined, verdicts.failed, true],
    ['fail', verdicts.failed, true],
    ['pass', verdicts.passed, true],
    ['inconclusive', verdicts.inconclusive, false],
  ] as const)('without data and onNoData %s is %i', async (onNoData, verdict, valid) => {
    const judged = await verdictOf([threshold(onNoData && { onNoData })], undefined);
    expect([judged.verdict, judged.validity.valid]).toEqual([verdict, valid]);
  });
  it('decides nothing when the result is not valid, unless a threshold failed', async () => {
    const judged = await verdictOf([threshold()], 50, undefined, ['agent-1 was lost']);
    expect(judged).toEqual({
      verdict: verdicts.inconclusive,
      validity: { valid: false, reasons: ['agent-1 was lost'] },
    });
    expect((await verdictOf([], 50, undefined, ['x'])).verdict).toBe(verdicts.inconclusive);
    expect((await verdictOf([threshold()], 150, undefined, ['x'])).verdict).toBe(verdicts.failed);
  });
  it('decides nothing when the generator was the limit for more than a twentieth of the time', async () => {
    expect((await verdictOf([threshold()], 150, saturated(5))).verdict).toBe(verdicts.failed);
    const judged = await verdictOf([threshold()], 150, saturated(6));
    expect(judged.verdict).toBe(verdicts.inconclusive);
    expect(judged.validity.reasons).toEqual(['agent-1 was saturated for 6 of 100 s (http: CPU)']);
    expect((await verdictOf([], 1, saturated(6))).verdict).toBe(verdicts.inconclusive);
    expect((await verdictOf([], 1, saturated(1, 4))).verdict).toBe(verdicts.none);
    expect((await verdictOf([], 1, saturated(2, 4))).verdict).toBe(verdicts.inconclusive);
  });
});
