import { describe, expect, it } from 'vitest';
import { agentOf, entryOf, inputOf } from '../testing/plan-fixture.ts';
import { captureOf } from './capture.ts';
import { planRun } from './plan-run.ts';

const limits = { maxBytesPerRun: 10_000_001, defaultSavelen: 2000 };

describe('what agents capture', () => {
  it('is nothing unless the task says so', () => {
    expect(captureOf({}, limits, 2)).toBeUndefined();
    expect(captureOf({ enabled: false, savelen: 100 }, limits, 2)).toBeUndefined();
  });

  it('has the length of the settings unless the task says another, and shares what a run may store', () => {
    const defaults = { captureArp: false, keep: 'first' };
    expect(captureOf({ enabled: true }, limits, 2)).toEqual({ ...defaults, savelen: 2000, maxBytes: 5_000_000 });
    expect(captureOf({ enabled: true, savelen: 0 }, limits, 1)).toEqual({
      ...defaults,
      savelen: 2000,
      maxBytes: 10_000_001,
    });
    expect(captureOf({ enabled: true, savelen: 96, captureArp: true, keep: 'newest' }, limits, 3)).toEqual({
      ...{ captureArp: true, keep: 'newest', savelen: 96 },
      maxBytes: 3_333_333,
    });
  });

  it('is part of the plan of every agent', () => {
    const ends = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }] };
    const entry = entryOf(3, { ...ends, packetsPerSecond: 1 });
    const agents = [1, 2].map((id) => agentOf(id, { system: { caps: ['cap_net_raw'] } }));
    const plan = planRun(inputOf([entry], { definition: { dumps: { enabled: true, savelen: 64 } }, agents }));
    expect(plan.agents.map(({ capture }) => capture?.savelen)).toEqual([64, 64]);
    expect(plan.issues.filter(({ path }) => path === '/dumps/enabled')).toEqual([]);
  });
});
