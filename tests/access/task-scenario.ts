import type { RunTableRow } from '@rushhour/contract';
import { metricOf, startSystem, until, untilStatus } from '../system/system.ts';

// Runs inside the left namespace: the controller and the subscribers are here, the gateway is at the other end.
const [, , address = '', otherNamespace = ''] = process.argv;

const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
try {
  const { client } = system;
  const near = await system.addAgent('near');
  const far = await system.addAgent('far', { namespace: otherNamespace, url: system.url.replace('0.0.0.0', address) });
  const interfaceOf = async (id: number, name: string) => {
    const { data } = await client.agents.get({ params: { id } });
    return data.interfaces?.find((one) => one.name === name)?.id ?? 0;
  };
  const profileOf = async (protocol: string, config: object) => {
    const body = { name: protocol, type: `protocol.${protocol}`, config };
    return (await client.dictionaries.create({ body: body as never })).data;
  };
  const ppp = await profileOf('ppp', { lcp: { timeoutSec: 1 }, auth: { timeoutSec: 1 } });
  const pppoe = await profileOf('pppoe', { discovery: { timeoutSec: 1 } });
  const sessions = await profileOf('sessions', { load: { count: 40, stopPerSec: 1000 } });
  const links = await profileOf('links', { link: { sourceMac: '02:44:00:00:00:01' } });
  const task = {
    comment: 'PPPoE subscribers',
    configuration: [],
    accessPlane: [
      {
        agent: { id: near.id },
        interfaces: [await interfaceOf(near.id, 'l0')],
        sessions: [sessions],
        pppoe: [pppoe],
        ppp: [ppp],
        links: [links],
      },
      {
        agent: { id: far.id },
        interfaces: [await interfaceOf(far.id, 'r0')],
        isServer: true,
        pppoe: [pppoe],
        ppp: [ppp],
      },
    ],
  };
  const { data: id } = await client.tasks.create({ body: task as never });
  const { data: started } = await client.tasks.start({ params: { id } });
  const params = { id, runId: started.runId };
  const rowsIn = async (state: string) => {
    const query = { table: 'sessions', agentID: near.id, state, count: 100 } as const;
    const { data } = await client.tasks.runAgents({ params, query });
    return data as RunTableRow[];
  };
  const established = await until('all sessions to be up', async () => {
    const rows = await rowsIn('up');
    return rows.length === 40 ? rows : undefined;
  });
  const command = { plane: 'access', index: 0, action: 'stop', from: 0, to: 9 } as const;
  const { data: changed } = await client.tasks.changeLoad({ body: { id, commands: [command] } });
  const stopped = await until('ten sessions to end', async () => {
    const rows = await rowsIn('ended');
    return rows.length === 10 ? rows : undefined;
  });
  await client.tasks.stop({ params: { id } });
  await untilStatus(client, id, [7, 8, 9]);
  const { data: result } = await client.tasks.run({ params, query: { full: true } });
  const output = {
    status: result.status,
    addresses: established.map(({ cells }) => cells['address']),
    commands: (changed as { commands?: unknown }).commands,
    stopped: stopped.map(({ index }) => index),
    setups: metricOf(result, 'client', 'access.setup')?.['count'],
    tables: result.tables,
  };
  process.stdout.write(`${JSON.stringify(output)}\n`);
} finally {
  await system.close();
}
process.exit(0);
