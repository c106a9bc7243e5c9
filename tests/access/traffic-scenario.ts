import type { RunTableRow } from '@rushhour/contract';
import { metricOf, startSystem, until, untilStatus } from '../system/system.ts';

// Runs inside the left namespace: subscribers and their HTTP clients are here, the other end is in the other one.
const [, , address = '', otherNamespace = '', kind = ''] = process.argv;
const sessionCount = 20;

const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
try {
  const { client } = system;
  const near = await system.addAgent('near');
  const other = await system.addAgent('far', {
    namespace: otherNamespace,
    url: system.url.replace('0.0.0.0', address),
  });
  const interfaceOf = async (id: number, name: string) => {
    const { data } = await client.agents.get({ params: { id } });
    return data.interfaces?.find((one) => one.name === name)?.id ?? 0;
  };
  const profileOf = async (protocol: string, config: object, name = protocol) => {
    const body = { name, type: `protocol.${protocol}`, config };
    return (await client.dictionaries.create({ body: body as never })).data;
  };
  const sessions = await profileOf('sessions', {
    load: { count: sessionCount, stopPerSec: 1000 },
    life: { reconnect: false },
    traffic: { ipv4PacketsPerSec: 0 },
  });
  const links = await profileOf('links', { link: { sourceMac: '02:55:00:00:00:01' } });
  const accessLine = await profileOf('accessLine', { vlan: { mode: '1:1', outerStart: 100, outerEnd: 199 } });
  const ppp = await profileOf('ppp', { lcp: { timeoutSec: 1 }, auth: { timeoutSec: 1 } });
  const pppoe = await profileOf('pppoe', { discovery: { timeoutSec: 1 } });
  const dhcp = await profileOf('dhcp', { client: { timeoutSec: 1 } });
  const l2tpOf = (name: string, tunnel: object) =>
    profileOf('l2tp', { tunnel: { secret: 'shared', timeoutSec: 1, ...tunnel } }, name);
  const lac = await l2tpOf('lac', { localAddress: '10.99.0.50', peerAddress: '10.99.0.60' });
  const lns = await l2tpOf('lns', { localAddress: '10.99.0.60' });
  const dhcpv6 = await profileOf('dhcpv6', { client: { timeoutSec: 1, prefix: false } });
  const ipoeOf = (method: string, addressStart: string) =>
    profileOf('ipoe', { ipv4: { enabled: false }, ipv6: { enabled: true, method, addressStart } }, `ipoe ${method}`);
  const withDhcpv6 = { ipoe: [await ipoeOf('dhcpv6', '2001:db8:9::1')], dhcpv6: [dhcpv6], accessLine: [accessLine] };
  const withSlaac = { ipoe: [await ipoeOf('slaac', '2001:db8:9::1')], accessLine: [accessLine] };
  const access = await profileOf('access', { gateway: { protocols: ['pppoe'], unnumberedFrom: '100.64.0.1' } });
  const overPppoe = { pppoe: [pppoe], ppp: [ppp], accessLine: [accessLine] };
  /** Profiles of subscribers and of the gateway of the access plane. */
  const protocols: Record<string, readonly [object, object]> = {
    pppoe: [overPppoe, overPppoe],
    access: [overPppoe, {}],
    pppoe6: [
      { ...overPppoe, dhcpv6: [dhcpv6] },
      { ...overPppoe, dhcpv6: [dhcpv6] },
    ],
    dhcpv6: [withDhcpv6, withDhcpv6],
    slaac: [withSlaac, withSlaac],
    dhcp: [
      { dhcp: [dhcp], accessLine: [accessLine] },
      { dhcp: [dhcp], accessLine: [accessLine] },
    ],
    l2tp: [
      { l2tp: [lac], ppp: [ppp] },
      { l2tp: [lns], ppp: [ppp] },
    ],
  };
  const [ofSubscribers, ofGateway] = protocols[kind] ?? [{}, {}];
  const common = { agent: { id: near.id }, interfaces: [await interfaceOf(near.id, 'l0')], groupId: 7 };
  const subscribers = { ...common, sessions: [sessions], links: [links], ...ofSubscribers };
  const farInterface = await interfaceOf(other.id, 'r0');
  const gateway = { agent: { id: other.id }, interfaces: [farInterface], isServer: true, groupId: 8, ...ofGateway };
  const router = { agent: { id: other.id }, interfaces: [[farInterface]], isServer: true, access: [access] };
  const isRouter = kind === 'access';
  const isIpv6 = ['pppoe6', 'dhcpv6', 'slaac'].includes(kind);
  const column = isIpv6 ? 'ipv6' : 'address';
  const ip = isIpv6 ? 'fd00:50::1' : '10.50.0.1';
  const target = { agent: { id: other.id }, ip, accessGroup: isRouter ? 0 : 8 };
  const task = {
    comment: 'HTTP of subscribers',
    configuration: [
      {
        plugin: { id: 1 },
        values: {
          duration: { mode: 'continuous' },
          requestsPerSecond: 200,
          keepAlive: { enabled: false },
          sources: [{ agent: { id: near.id }, accessGroup: 7 }],
          targets: [target],
        },
      },
    ],
    accessPlane: [subscribers, ...(isRouter ? [] : [gateway])],
    ...(isRouter && { controlPlane: [router] }),
  };
  const { data: id } = await client.tasks.create({ body: task as never });
  const { data: started } = await client.tasks.start({ params: { id } });
  const params = { id, runId: started.runId };
  const rowsOf = async (agentID: number, state: string) => {
    const { data } = await client.tasks.runAgents({
      params,
      query: { table: 'sessions', agentID, state, count: 100 } as const,
    });
    return data as RunTableRow[];
  };
  await untilStatus(client, id, [4, 9]);
  const allOf = (agentID: number) =>
    until('all sessions to be up', async () => {
      const rows = await rowsOf(agentID, 'up');
      return rows.length === sessionCount ? rows : undefined;
    });
  const carrying = await allOf(near.id);
  // A gateway that advertises a prefix does not hand out addresses.
  const served = kind === 'slaac' ? carrying : await allOf(other.id);
  const command = { plane: 'access', index: 0, action: 'stop', from: 0, to: 4 } as const;
  await client.tasks.changeLoad({ body: { id, commands: [command] } });
  await until('five sessions to end', async () => ((await rowsOf(near.id, 'ended')).length === 5 ? true : undefined));
  await new Promise((resolve) => setTimeout(resolve, 2000));
  await client.tasks.stop({ params: { id } });
  await untilStatus(client, id, [7, 8, 9]);
  const { data: result } = await client.tasks.run({ params, query: { full: true } });
  const rows = [...(await rowsOf(near.id, 'ended')), ...(await rowsOf(near.id, 'up'))];
  const metrics = result.summary.find(({ role }) => role === 'client')?.metrics ?? [];
  const output = {
    status: result.status,
    error: result.error,
    addresses: carrying.map(({ cells }) => cells[column]),
    served: served.map(({ cells }) => [cells[column], cells['vlan']]),
    packets: rows.map(({ cells }) => cells['txPackets']),
    answers: metricOf(result, 'client', 'http.latency')?.['count'],
    errors: metrics.map(({ metric }) => metric).filter((name) => name.startsWith('http.errors.')),
  };
  process.stdout.write(`${JSON.stringify(output)}\n`);
} finally {
  await system.close();
}
process.exit(0);
