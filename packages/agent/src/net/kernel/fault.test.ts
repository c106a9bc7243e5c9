import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../../../../tests/process/free-port.ts';
import { Bench, type Joined } from '../../testing/agent-process.ts';
import { clientJob, serverJob } from '../../testing/jobs.ts';
import { ProtocolServer } from '../../testing/protocol-server.ts';

const bench = new Bench();
let server: ProtocolServer;
let agent: Joined;

beforeAll(async () => {
  server = await ProtocolServer.start();
  agent = await bench.join(server);
});
afterAll(async () => {
  await bench.close();
  await server.vanish();
});

it('an invalid address crashes the process, and only if the checks are bypassed', () => {
  const script = `
    const { requireLibc } = await import('${new URL('./libc.ts', import.meta.url)}');
    new Uint8Array(requireLibc().view(4096, 8))[0] = 1;`;
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
  expect(signal).toBe('SIGSEGV');
});

it('such a crash fails the engine and not the agent', async () => {
  const { uuid } = agent;
  const of = { runId: 1, epoch: 1 };
  const port = await freePort();
  const orders = [serverJob(of, port), clientJob(of, port, 30)];
  server.send(uuid, { type: 'prepare', ...of, orders, files: [] });
  await server.until({ type: 'prepared', uuid, fits: ({ runId }) => runId === 1 });
  server.send(uuid, { type: 'start', ...of, at: Date.now() + 50 });
  await server.until({ type: 'summaries', uuid, fits: ({ runId }) => runId === 1 });
  const pid = Number(/preparing \d+ jobs in process (\d+)/.exec(agent.agent.output)?.[1]);
  process.kill(pid, 'SIGSEGV');
  const event = await server.until({ type: 'event', uuid, fits: ({ kind }) => kind === 'engineCrashed' });
  expect(event).toMatchObject({ runId: 1, severity: 'error' });
  await server.until({ type: 'ended', uuid, fits: ({ runId }) => runId === 1 });
  const ends = server.all('orderEnded', uuid).filter(({ runId }) => runId === 1);
  expect(ends.map(({ outcome }) => outcome.status)).toEqual(['failed', 'failed']);
  expect(ends[0]?.outcome.error).toContain('SIGSEGV');
  expect(await server.ask(uuid, { kind: 'ping' })).toMatchObject({ ok: true });
});
