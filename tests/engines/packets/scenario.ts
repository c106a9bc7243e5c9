import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type AgentProcess, metricOf, runToEnd, startSystem, until, untilStatus } from '../../system/system.ts';

// Runs inside the left namespace: the controller and the sender are here, the receiver is at the other end of the cable.
const [, , address = '', otherNamespace = ''] = process.argv;

const ownRoutes = () =>
  execFileSync('ip', ['-n', otherNamespace, 'route', 'show', 'table', 'local', 'proto', '213'], { encoding: 'utf8' });

/** Kills an agent and its run processes, so that none can clean up. */
const killWithRuns = async (agent: AgentProcess) => {
  const { pid } = agent.process;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  process.kill(Number(pid), 'SIGSTOP');
  for (const child of children) process.kill(Number(child), 'SIGKILL');
  await agent.kill('SIGKILL');
};

const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
try {
  const near = await system.addAgent('near');
  const far = await system.addAgent('far', { namespace: otherNamespace, url: system.url.replace('0.0.0.0', address) });
  const ends = { sources: [{ agent: { id: near.id } }], targets: [{ agent: { id: far.id } }] };
  const run = async (pluginId: number, values: object) => {
    const duration = { mode: 'time', seconds: 3 };
    const task = {
      comment: 'packets',
      configuration: [{ plugin: { id: pluginId }, values: { ...ends, duration, ...values } }],
    };
    const { id, result } = await runToEnd(system.client, task);
    const sum = (role: 'client' | 'server', metric: string) => metricOf(result, role, metric)?.['sum'] ?? 0;
    return { id, result, sum };
  };
  const stream = await run(7, { packetsPerSecond: 2000, maxStreams: 10, frameSize: 200 });
  const icmp = await run(5, { packetsPerSecond: 100 });
  const rfc2544 = {
    frameSizes: [64, 1518],
    tests: ['throughput', 'latency', 'frameLoss'],
    trialSec: 0.5,
    confirmSec: 0,
    settleSec: 0.1,
  };
  const trials = await run(7, { packetsPerSecond: 1000, payload: { rfc2544 } });
  const params = { id: trials.id, runId: trials.result.id };
  const report = async (format: 'html' | 'csv' | 'junit') =>
    (await system.client.tasks.report({ params, query: { format } })).text();
  const events = await system.client.tasks.events({ params: { id: trials.id }, query: { type: 'progress' } });
  const { data: network } = await system.client.networks.create({ body: { name: 'claimed', subnet: '10.99.0.76/30' } });
  const targets = [{ agent: { id: far.id }, network: { id: network } }];
  const values = { ...ends, targets, packetsPerSecond: 100 };
  const configuration = [{ plugin: { id: 7 }, values: { ...values, duration: { mode: 'time', seconds: 600 } } }];
  const { data: id } = await system.client.tasks.create({ body: { comment: 'killed', configuration } as never });
  await system.client.tasks.start({ params: { id } });
  await untilStatus(system.client, id, [4]);
  const routes = { before: ownRoutes(), left: '', after: '' };
  await killWithRuns(far);
  routes.left = ownRoutes();
  far.startAgain();
  await until('the routes to be swept', async () => ownRoutes() === '');
  routes.after = ownRoutes();
  await untilStatus(system.client, id, [9]);
  const answer = {
    hasWarned: far.output().includes('the controller is reached without TLS'),
    routes,
    rfc2544: {
      status: trials.result.status,
      validity: trials.result.validity,
      rows: trials.result.rfc2544,
      html: await report('html'),
      csv: await report('csv'),
      junit: await report('junit'),
      progress: events.data.map(({ message }) => message),
    },
    stream: {
      status: stream.result.status,
      sent: stream.sum('client', 'stream.sent'),
      received: stream.sum('server', 'stream.received'),
      lost: stream.sum('server', 'stream.lost'),
    },
    icmp: {
      status: icmp.result.status,
      sent: icmp.sum('client', 'icmp.sent'),
      received: icmp.sum('client', 'icmp.received'),
      answered: icmp.sum('server', 'icmp.answered'),
    },
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} finally {
  await system.close();
}
process.exit(0);
