import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { completeSignature, madeByUser } from '../../security/signatures/expressions/complete-signature.ts';
import { agentOf, ends, entryOf, inputOf } from '../testing/plan-fixture.ts';
import { planRun } from './plan-run.ts';
import { needsThread, planInThread } from './plan-thread.ts';

const engine = { engine: 'cve-replay', available: true, way: '', version: '1', missing: [], reason: '' };
const agents = [1, 2].map((id) => agentOf(id, { engines: [engine] }));

const inputWith = (count: number) => {
  const ids = Array.from({ length: count }, (_, i) => i + 1);
  const signatures = ids.map((id) => ({
    ...completeSignature(
      { name: `Probe ${id}`, requests: [{ idx: 0, kind: 'http', method: 'GET', path: `/${id}?x={{randstr}}` }] },
      madeByUser,
    ),
    ...{ id, issuerID: 1, issuer: null, createdAt: '', updatedAt: '' },
  }));
  const cveReplayParams = { signatureIds: ids, confirm: 1, benign: { enabled: false } };
  return inputOf([entryOf(16, { ...ends, cveReplayParams })], {
    agents,
    signatures: new Map(signatures.map((one) => [one.id, one])),
  });
};

it('plans of many signatures are made in a thread, with the same result, while other work goes on', async () => {
  const input = inputWith(3000);
  expect(needsThread(input)).toBe(true);
  const before = performance.eventLoopUtilization();
  const plan = await planInThread(input);
  const { utilization } = performance.eventLoopUtilization(before);
  expect(plan).toEqual(planRun(input));
  expect(plan.attempts[0]?.count).toBe(3000);
  expect(utilization).toBeLessThan(0.7);
});

it('small plans are not worth a thread', () => {
  expect(needsThread(inputWith(5))).toBe(false);
});
