import { metricOf, runToEnd, startSystem } from '../system/system.ts';

// Runs inside the left namespace: the controller and the clients are here, the servers are at the other end of the cable.
const [, , address = '', otherNamespace = ''] = process.argv;
const subnet = '10.77.0.0/24';

const system = await startSystem({}, { RUSHHOUR_HOST: '0.0.0.0' });
try {
  const { client } = system;
  const near = await system.addAgent('near');
  const far = await system.addAgent('far', { namespace: otherNamespace, url: system.url.replace('0.0.0.0', address) });
  const createNetwork = async (name: string, excludes: string[], macPolicy: object) => {
    const { data } = await client.networks.create({ body: { name, subnet, excludes, macPolicy } as never });
    return { id: data };
  };
  const macs = { mode: 'perIp', start: '02:aa:00:00:00:00' };
  const clients = await createNetwork('clients', ['10.77.0.51-10.77.0.254'], macs);
  const servers = await createNetwork('servers', ['10.77.0.1-10.77.0.199', '10.77.0.204-10.77.0.254'], {
    mode: 'derived',
  });
  const { data: tunnel } = await client.tunnels.create({
    body: {
      name: 'underlay',
      type: 'vxlan',
      clientIp: '10.99.0.100',
      serverIp: '10.99.0.200',
      params: { vni: 42 },
    } as never,
  });
  const { data: encrypted } = await client.tunnels.create({
    body: {
      name: 'encrypted',
      type: 'ipsec',
      endpoints: '10.99.0.110-10.99.0.119 > 10.99.0.210',
      params: { psk: 'a long secret', rekeyTime: 1, pfs: true },
    } as never,
  });
  const run = async (values: object) => {
    const task = {
      comment: 'emulated hosts',
      configuration: [
        {
          plugin: { id: 1 },
          values: {
            sources: [{ agent: { id: near.id }, network: clients }],
            targets: [{ agent: { id: far.id }, network: servers, ports: '8080' }],
            duration: { mode: 'time', seconds: 2 },
            httpParams: { responseSize: 5000, connections: 60 },
            keepAlive: { maxRequests: 5 },
            requestsPerSecond: 300,
            ...values,
          },
        },
      ],
    };
    const { result } = await runToEnd(client, task);
    const sum = (role: 'client' | 'server', metric: string) => metricOf(result, role, metric)?.['sum'] ?? 0;
    return {
      status: result.status,
      validity: result.validity,
      ok: sum('client', 'http.ok'),
      requests: sum('client', 'http.requests'),
      served: sum('server', 'http.served'),
    };
  };
  const tagged = await run({ ipLayer: { vlan: [{ id: 33, pcp: 2 }], dscp: 10 } });
  const tunnelled = await run({ tunnelID: tunnel });
  const ipsec = await run({ tunnelID: encrypted });
  const sides = {
    sources: [{ agent: { id: near.id }, network: clients }],
    targets: [{ agent: { id: far.id }, network: servers }],
    duration: { mode: 'time', seconds: 4 },
    ipsecPsk: 'a long secret',
  };
  const runPlugin = async (pluginId: number, values: object) => {
    const configuration = [{ plugin: { id: pluginId }, values: { ...sides, ...values } }];
    const { id, result } = await runToEnd(client, { comment: 'IPsec', configuration });
    const query = { table: 'sas', agentID: near.id, count: 100 } as const;
    const { data } = await client.tasks.runAgents({ params: { id, runId: result.id }, query: query as never });
    const sum = (role: 'client' | 'server', metric: string) => metricOf(result, role, metric)?.['sum'] ?? 0;
    return { status: result.status, rows: data, sum };
  };
  const opened = await runPlugin(12, {
    ...{ ipsecTunnelCount: 20, ipsecTunnelSrcIpCount: 10, ipsecRekeyTime: 2 },
    ...{ ipsecInnerSrcStart: '10.1.0.1', ipsecInnerSrcEnd: '10.1.0.20' },
    ...{ ipsecInnerDstStart: '10.2.0.1', ipsecInnerDstEnd: '10.2.0.1' },
  });
  const tunnels = {
    status: opened.status,
    rows: opened.rows,
    opened: [opened.sum('client', 'ipsec-tunnel.opened'), opened.sum('server', 'ipsec-tunnel.opened')],
    rxBytes: [opened.sum('client', 'ipsec-tunnel.rxBytes'), opened.sum('server', 'ipsec-tunnel.rxBytes')],
  };
  const load = await runPlugin(13, { ipsecLoadHsRatePps: 50, ipsecLoadSrcIpCount: 50 });
  const handshakes = {
    status: load.status,
    completed: [load.sum('client', 'ipsec-load.completed'), load.sum('server', 'ipsec-load.completed')],
    failed: load.sum('client', 'ipsec-load.failed'),
  };
  process.stdout.write(`${JSON.stringify({ tagged, tunnelled, ipsec, tunnels, handshakes })}\n`);
} finally {
  await system.close();
}
process.exit(0);
