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
  process.stdout.write(`${JSON.stringify({ tagged, tunnelled })}\n`);
} finally {
  await system.close();
}
process.exit(0);
