import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpTask, metricOf, startSystem, until, untilStatus } from './system.ts';

// Runs inside the left namespace: the controller and the client are here, the server is at the other end of the cable.
const [, , address = '', otherNamespace = '', device = '', kind = ''] = process.argv;
const isShort = kind === 'short';
const link = (state: 'up' | 'down') => execFileSync('ip', ['link', 'set', device, state]);

const settings = {
  agents: { heartbeatSec: 1, suspectAfterSec: 2, lostAfterSec: isShort ? 60 : 8, deadManSec: 120 },
  tasks: { stopTimeoutSec: 10 },
};
const system = await startSystem(settings, { RUSHHOUR_HOST: '0.0.0.0' });
try {
  const { client } = system;
  const near = await system.addAgent('near');
  const url = system.url.replace('0.0.0.0', address);
  const far = await system.addAgent('far', { namespace: otherNamespace, url });
  const { data: id } = await client.tasks.create({
    body: httpTask(near, far, { duration: { mode: 'time', seconds: isShort ? 16 : 300 } }) as never,
  });
  const { data: run } = await client.tasks.start({ params: { id } });
  await untilStatus(client, id, [4]);
  await sleep(2000);
  link('down');
  const isDegraded = async () => (await client.tasks.status({ params: { id } })).data.health === 'degraded';
  await until('the run to be degraded', isDegraded);
  // The long cut outlasts the run.
  if (!isShort) await untilStatus(client, id, [7, 8, 9]);
  link('up');
  const end = await untilStatus(client, id, [7, 8, 9]);
  const { data: result } = await client.tasks.run({ params: { id, runId: run.runId }, query: { full: true } });
  const { data: series } = await client.tasks.series({
    params: { id, runId: run.runId },
    query: { metrics: 'http.served', step: 1 },
  });
  await until('the server to be back', async () => {
    const { data } = await client.agents.get({ params: { id: far.id } });
    return data.status === 1;
  });
  const values = series.series[0]?.values ?? [];
  // After its last whole second a run has no rates.
  const last = values.findLastIndex((value) => value !== null);
  const holes = values.slice(0, last).filter((value) => value === null).length;
  const answer = { end, holes, ok: metricOf(result, 'client', 'http.ok')?.['sum'] };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} finally {
  await system.close();
}
process.exit(0);
