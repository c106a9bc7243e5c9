import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cable, createCable } from '../engines/namespaces.ts';

const run = promisify(execFile);
const scenario = fileURLToPath(new URL('network-cut-scenario.ts', import.meta.url));

let cable: Cable;
beforeAll(() => {
  cable = createCable();
});
afterAll(() => cable?.remove());

const cutFor = async (ms: number) => {
  const { left, right } = cable;
  const args = [left.device, left.address, right.namespace, String(ms)];
  const { stdout } = await run('ip', ['netns', 'exec', left.namespace, process.execPath, scenario, ...args], {
    timeout: 110_000,
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
};

it('a short cut of the network degrades a run, loses no sample and fails requests that were under way', async () => {
  const { end, healths, holes, ok } = await cutFor(4000);
  expect(end).toMatchObject({ status: 7, stopReason: 'duration' });
  expect(healths).toContain('degraded');
  expect(holes).toBe(0);
  expect(ok).toBeGreaterThan(1000);
});

it('a long cut makes the run fail by the loss of its only server, and the agent comes back', async () => {
  const { end } = await cutFor(12_000);
  expect(end).toMatchObject({ status: 9, stopReason: 'agentLost' });
});
