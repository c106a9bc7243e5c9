import { describe, expect, it } from 'vitest';
import { assertWithin, type RiskFacts, riskOf, type TaskAction } from './risk.ts';

const job = (host: string, role = 'client') => ({ role, job: { config: { targets: [{ host, port: 80 }] } } });
const facts = (over: Partial<RiskFacts> = {}, hosts = ['10.0.0.1']): RiskFacts => ({
  definition: { configuration: [{ plugin: { id: 1 }, values: {} }] },
  plan: {
    agents: [{ agentId: 1, role: 'client', files: [], jobs: hosts.map((host) => job(host)) }] as never,
    estimate: {
      agents: 1,
      clientIps: 1,
      connections: 1,
      pps: 1000,
      bps: 8_000_000,
      durationSec: 60,
      dumpBytes: 0,
      attempts: 0,
    },
    isLoadKnown: true,
  },
  isSpoofing: false,
  ...over,
});

it.each<[TaskAction, string]>([
  ['start', 'R2'],
  ['restart', 'R2'],
  ['resume', 'R2'],
  ['set-rate', 'R2'],
  ['stop', 'RS'],
  ['pause', 'RS'],
  ['delete', 'R3'],
])('%s of a plain task is %s', (action, risk) => {
  expect(riskOf(action, [facts()], {}).risk).toBe(risk);
});

describe('a start becomes hazardous', () => {
  it.each<[string, RiskFacts, object]>([
    ['when its sources are spoofed', facts({ isSpoofing: true }), {}],
    ['when it sends more bits than the key may', facts(), { maxBps: 7_999_999 }],
    ['when it sends more packets than the key may', facts(), { maxPps: 999 }],
    [
      'when it is not known how much it sends and the key has a limit',
      facts({ plan: { ...(facts().plan as NonNullable<RiskFacts['plan']>), isLoadKnown: false } }),
      { maxPps: 1000 },
    ],
    [
      'when a target is outside the ranges of the key',
      facts({}, ['10.0.0.1', '10.1.0.1']),
      { targetCidrs: ['10.0.0.0/16'] },
    ],
    ['when the key has no range at all', facts(), { targetCidrs: [] }],
    ['when a target is a name', facts({}, ['example.test']), { targetCidrs: ['10.0.0.0/8'] }],
    ['when no plan could be made', facts({ plan: undefined }), {}],
    [
      'when its targets are not told',
      facts({
        plan: {
          ...(facts().plan as object),
          agents: [{ jobs: [{ role: 'client', job: { config: {} } }] }],
        } as never,
      }),
      { targetCidrs: ['0.0.0.0/0'] },
    ],
    [
      'when the load is no number',
      facts({ plan: { agents: [], estimate: { bps: Number.NaN, pps: 0 } } as never }),
      { maxBps: 1e12 },
    ],
    ['when judging it fails', facts({ definition: undefined as never }), {}],
  ])('%s', (_, given, constraints) => {
    const { risk, reasons } = riskOf('start', [given], constraints);
    expect(risk).toBe('R3');
    expect(reasons).not.toEqual([]);
  });

  it('but not within all limits of the key', () => {
    const limits = { maxBps: 8_000_000, maxPps: 1000, targetCidrs: ['10.0.0.0/8'] };
    expect(riskOf('start', [facts()], limits)).toEqual({ risk: 'R2', reasons: [] });
  });
});

it('judges several tasks as the worst of them', () => {
  expect(riskOf('resume', [facts(), facts({ isSpoofing: true })], {}).risk).toBe('R3');
});

it('lets a rate be lowered like a stop, and judges a raised one by the new load', () => {
  expect(riskOf('set-rate', [facts({ loadFactor: 0.5 })], {}).risk).toBe('RS');
  expect(riskOf('set-rate', [facts({ loadFactor: 2 })], { maxBps: 15_000_000 }).risk).toBe('R3');
  expect(riskOf('set-rate', [facts({ loadFactor: 2 })], { maxBps: 16_000_000 }).risk).toBe('R2');
});

it('refuses agents and lengths that no approval can allow', () => {
  assertWithin(facts(), { agentIDs: [1] }, [1]);
  expect(() => assertWithin(facts(), { agentIDs: [1] }, [1, 2])).toThrow(/agent 2/);
  expect(() => assertWithin(facts(), { maxTaskDurationSec: 59 }, [])).toThrow(/60 s/);
  const endless = facts({ plan: { agents: [], estimate: { durationSec: null } } as never });
  expect(() => assertWithin(endless, {}, [])).toThrow(/planned end/);
});
