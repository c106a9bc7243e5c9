import { setTimeout as sleep } from 'node:timers/promises';
import { metricOf, startSystem, untilStatus } from '../system/system.ts';

// Runs inside the left namespace, with the controller and one agent; the router under test is at the other end.
const system = await startSystem();
try {
  const { client } = system;
  const agent = await system.addAgent('near');
  const { data: interfaces } = await client.agents.interfaces({ params: { id: agent.id } });
  const own = interfaces.find(({ name }) => name === 'l0');
  const { data: profile } = await client.dictionaries.create({
    body: {
      name: 'Table',
      type: 'protocol.bgp',
      config: {
        session: { localAddress: '10.99.0.10', peerAddress: '10.99.0.2', connectRetrySec: 1 },
        routes: { ipv4Count: 500 },
      },
    } as never,
  });
  const { data: id } = await client.tasks.create({
    body: {
      comment: 'emulated routers',
      controlPlane: [{ agent: { id: agent.id }, interfaces: [[own?.id], [own?.id]], bgp: [profile] }],
      configuration: [{ plugin: { id: 102 }, values: { duration: { mode: 'time', seconds: 10 } } }],
    } as never,
  });
  const { data: started } = await client.tasks.start({ params: { id } });
  await untilStatus(client, id, [4, 8, 9]);
  await sleep(4000);
  const { data: changed } = await client.tasks.changeLoad({
    body: { id, commands: [{ plane: 'control', index: 0, action: 'disconnect', from: 0, to: 0 }] } as never,
  });
  await untilStatus(client, id, [7, 8, 9]);
  const run = { id, runId: started.runId };
  const { data: result } = await client.tasks.run({ params: run, query: { full: true } });
  const { data: neighbours } = await client.tasks.runAgents({ params: run, query: { table: 'neighbours' } as never });
  const sumOf = (metric: string) => metricOf(result as never, 'client', metric)?.['sum'];
  const answer = {
    status: result.status,
    commands: changed.commands,
    sent: sumOf('control.prefixesSent'),
    flaps: sumOf('control.flaps'),
    neighbours,
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} finally {
  await system.close();
}
process.exit(0);
