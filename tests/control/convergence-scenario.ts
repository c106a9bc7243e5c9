import { setTimeout as sleep } from 'node:timers/promises';
import { metricOf, startSystem, untilStatus } from '../system/system.ts';

// Runs inside the left namespace, with the controller and the sender; an emulated router and the receiver are at the
// right, and the router under test is between them.
const [, , address = '', rightNamespace = ''] = process.argv;
const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
try {
  const { client } = system;
  const near = await system.addAgent('near');
  const far = await system.addAgent('far', { namespace: rightNamespace, url: system.url.replace('0.0.0.0', address) });
  const { data: interfaces } = await client.agents.interfaces({ params: { id: far.id } });
  const own = interfaces.find(({ name }) => name === 'r0');
  const { data: profile } = await client.dictionaries.create({
    body: {
      name: 'Route',
      type: 'protocol.bgp',
      config: {
        session: { localAddress: '10.98.2.10', peerAddress: '10.98.2.1', connectRetrySec: 1 },
        routes: { ipv4Count: 1, ipv4Start: '10.98.3.0/24' },
      },
    } as never,
  });
  const { data: id } = await client.tasks.create({
    body: {
      comment: 'convergence',
      controlPlane: [{ agent: { id: far.id }, interfaces: [[own?.id]], bgp: [profile] }],
      configuration: [
        { plugin: { id: 102 }, values: { duration: { mode: 'time', seconds: 16 } } },
        {
          plugin: { id: 21 },
          subplugins: {
            subplugins: [
              {
                plugin: { id: 20 },
                startAfterSec: 5,
                values: {
                  sources: [{ agent: { id: near.id } }],
                  targets: [{ agent: { id: far.id }, ip: '10.98.3.5' }],
                  convergenceFlows: 10,
                  packetsPerSecond: 10_000,
                  duration: { mode: 'time', seconds: 8 },
                },
              },
            ],
          },
        },
      ],
    } as never,
  });
  const { data: started } = await client.tasks.start({ params: { id } });
  await untilStatus(client, id, [4, 8, 9]);
  await sleep(7000);
  const command = (action: string) =>
    client.tasks.changeLoad({ body: { id, commands: [{ plane: 'control', index: 0, action }] } as never });
  const { data: changed } = await command('withdraw');
  await sleep(1000);
  await command('announce');
  await untilStatus(client, id, [7, 8, 9]);
  const run = { id, runId: started.runId };
  const { data: result } = await client.tasks.run({ params: run, query: { full: true } });
  const { data: flows } = await client.tasks.runAgents({ params: run, query: { table: 'flows' } as never });
  const sumOf = (metric: string) => metricOf(result as never, 'server', metric)?.['sum'];
  const answer = {
    status: result.status,
    commands: changed.commands,
    lost: sumOf('convergence.lost'),
    events: sumOf('convergence.events'),
    flowsDown: metricOf(result as never, 'server', 'convergence.flowsDown')?.['last'] ?? 0,
    flows,
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} finally {
  await system.close();
}
process.exit(0);
