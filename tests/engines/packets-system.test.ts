import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cable, createCable } from './namespaces.ts';

const run = promisify(execFile);
const scenario = fileURLToPath(new URL('packets-scenario.ts', import.meta.url));

let cable: Cable;
beforeAll(() => {
  cable = createCable();
});
afterAll(() => cable?.remove());

it('tasks of streams and echoes run between two agents, and both sides agree', async () => {
  const { left, right } = cable;
  const args = ['netns', 'exec', left.namespace, process.execPath, scenario, left.address, right.namespace];
  const { stdout } = await run('ip', args, { timeout: 110_000 });
  const { stream, icmp } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(stream.sent).toBeGreaterThan(5000);
  expect(stream).toMatchObject({ status: 7, received: stream.sent, lost: 0 });
  expect(icmp.sent).toBeGreaterThan(250);
  expect(icmp).toMatchObject({ status: 7, received: icmp.sent });
  expect(icmp.answered).toBeGreaterThanOrEqual(icmp.sent);
});
