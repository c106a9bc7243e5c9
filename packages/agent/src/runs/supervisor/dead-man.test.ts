import { mkdir, readdir, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../../../tests/process/free-port.ts';
import { Bench, isAlive, type Joined } from '../../testing/agent-process.ts';
import { clientJob, serverJob, totalOf } from '../../testing/jobs.ts';
import { ProtocolServer } from '../../testing/protocol-server.ts';

const bench = new Bench();
let server: ProtocolServer;
const of = { runId: 7, epoch: 2 };

beforeEach(async () => {
  server = await ProtocolServer.start();
  server.limits = { ...server.limits, deadManMs: 1000 };
});
afterEach(async () => {
  await bench.close();
  await server.vanish();
  expect(server.violations).toEqual([]);
});
afterAll(() => bench.close());

const begin = async ({ uuid }: Joined): Promise<void> => {
  const port = await freePort();
  const orders = [serverJob(of, port), clientJob(of, port, 60)];
  server.send(uuid, { type: 'prepare', ...of, orders, files: [] });
  await server.until({ type: 'prepared', uuid });
  server.send(uuid, { type: 'start', ...of, at: Date.now() });
  await server.until({ type: 'summaries', uuid, fits: ({ order }) => order === 1 });
};
const resultsOf = ({ agent }: Joined): Promise<string[]> => readdir(join(agent.dataDir, 'results')).catch(() => []);
const withoutGap = (lastSeq: number) => Array.from({ length: lastSeq }, (_, index) => index + 1);

describe('an agent without its controller', () => {
  it('ends its runs, keeps the results over a crash and sends them later', async () => {
    const joined = await bench.join(server);
    const { uuid, agent } = joined;
    await begin(joined);
    await server.vanish();
    await expect.poll(() => resultsOf(joined), { interval: 100 }).toEqual(['7-2.json']);
    expect(agent.output).toContain('no contact with the controller');
    agent.kill('SIGKILL');
    await agent.exited;
    await server.listen();
    const after = server.heard.length;
    const back = await bench.join(server, agent.dataDir);
    expect(back.greeting).toMatchObject({
      type: 'hello',
      runs: [{ ...of, state: 'ended', endedByDeadMan: true, orders: [{}, { outcome: { status: 'stopped' } }] }],
    });
    const end = await server.until({ type: 'ended', uuid, after });
    expect(end).toMatchObject({ ...of, endedByDeadMan: true });
    const { seqs } = totalOf(server, uuid, { runId: of.runId, order: 1, metric: 'http.requests' });
    const outcome = server.all('orderEnded', uuid).find(({ order }) => order === 1)?.outcome;
    expect(seqs).toEqual(withoutGap(outcome?.lastSeq ?? 0));
    expect(seqs.length).toBeGreaterThan(1);
    server.send(uuid, { type: 'forget', ...of });
    await expect.poll(() => resultsOf(joined)).toEqual([]);
  });

  it('continues without a writable disk, and reports it', async () => {
    const joined = await bench.join(server);
    const { uuid, agent } = joined;
    // Writing through this link fails as it does on a full disk.
    await mkdir(join(agent.dataDir, 'results'), { recursive: true });
    await symlink('/dev/full', join(agent.dataDir, 'results', '7-2.json.tmp'));
    await unlink(join(agent.dataDir, 'logs', 'agent.log')).catch(() => {});
    await symlink('/dev/full', join(agent.dataDir, 'logs', 'agent.log'));
    await begin(joined);
    await server.vanish();
    await expect.poll(() => agent.output).toContain('results are kept in memory only: ENOSPC');
    await server.listen();
    const event = await server.until({ type: 'event', uuid, fits: ({ kind }) => kind === 'resultsNotOnDisk' });
    expect(event).toMatchObject({ ...of, severity: 'warning' });
    await server.until({ type: 'ended', uuid });
    const outcome = server.all('orderEnded', uuid).find(({ order }) => order === 1)?.outcome;
    const { seqs } = totalOf(server, uuid, { runId: of.runId, order: 1, metric: 'http.requests' });
    expect(seqs).toEqual(withoutGap(outcome?.lastSeq ?? 0));
  });

  it('ends its runs on SIGTERM, and leaves no traffic behind when it is killed', async () => {
    const gentle = await bench.join(server);
    await begin(gentle);
    expect(await gentle.agent.stop()).toBe(0);
    await server.until({ type: 'ended', uuid: gentle.uuid });
    const statuses = server.all('orderEnded', gentle.uuid).map(({ outcome }) => outcome.status);
    expect(statuses).toEqual(['stopped', 'stopped']);
    expect(await resultsOf(gentle)).toEqual(['7-2.json']);

    const harsh = await bench.join(server);
    await begin(harsh);
    const child = Number(/in process (\d+)/.exec(harsh.agent.output)?.[1]);
    expect(isAlive(child)).toBe(true);
    harsh.agent.kill('SIGKILL');
    await expect.poll(() => isAlive(child)).toBe(false);
  });
});
