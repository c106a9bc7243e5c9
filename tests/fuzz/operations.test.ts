import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations, runCampaign, startTarget, type Target } from './campaign.ts';
import { runMcpCampaign } from './mcp-campaign.ts';

const perOperation = 100;
// On a busy machine; `npm run fuzz` is stricter.
const maxAnswerMs = 30_000;
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
afterAll(() => target.close());

describe(`every operation satisfies the rules (FUZZ_SEED=${seed})`, () => {
  it.each(operations)('$id', async (operation) => {
    const { findings, statuses } = await runCampaign(target, operation, { count: perOperation, seed, maxAnswerMs });
    expect(findings.slice(0, 5)).toEqual([]);
    expect([...statuses.values()].reduce((sum, count) => sum + count, 0)).toBe(perOperation);
  });
});

it(`tools of MCP answer or refuse whatever they are called with (FUZZ_SEED=${seed})`, async () => {
  expect((await runMcpCampaign(target, { count: 200, seed, maxAnswerMs })).slice(0, 5)).toEqual([]);
});
