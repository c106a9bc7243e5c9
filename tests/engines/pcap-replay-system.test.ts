import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cable, createCable } from './namespaces.ts';

const run = promisify(execFile);
const scenario = fileURLToPath(new URL('pcap-replay-scenario.ts', import.meta.url));

let cable: Cable;
beforeAll(() => {
  cable = createCable();
});
afterAll(() => cable?.remove());

it('captures that were uploaded are played between two agents, and both sides agree on every packet', async () => {
  const { left, right } = cable;
  const args = ['netns', 'exec', left.namespace, process.execPath, scenario, left.address, right.namespace];
  const { stdout } = await run('ip', args, { timeout: 110_000 });
  const { original, fast, sessions, empty } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  const played = (loops: number) => ({
    client: { sent: 12 * loops, received: 8 * loops, lost: 0, failed: 0, loops },
    server: { sent: 8 * loops, received: 12 * loops, lost: 0, failed: 0, loops: 0 },
  });
  expect(original).toMatchObject({ status: 7, ...played(2) });
  expect(fast).toMatchObject({ status: 7, ...played(50) });
  // Two conversations and one exchange of datagrams, five times.
  expect(sessions).toMatchObject({ status: 7, ok: 15, ko: 0 });
  expect(empty).toMatchObject({ status: 9, error: expect.stringContaining('No packet is left of the capture.') });
});
