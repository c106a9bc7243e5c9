import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations, runCampaign, startTarget, type Target } from './campaign.ts';

const perOperation = 100;
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
afterAll(() => target.close());

describe(`every operation satisfies the rules (FUZZ_SEED=${seed})`, () => {
  it.each(operations)('$id', async (operation) => {
    const { findings, statuses } = await runCampaign(target, operation, perOperation, seed);
    expect(findings.slice(0, 5)).toEqual([]);
    expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(perOperation);
  });
});
