import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { runJobIn, startJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';

const subnet = '10.99.0.0/24';
const macPolicy = { mode: 'perIp', start: '02:aa:00:00:00:01' };

const hostsOn = (device: string, hosts: string, more: Partial<HostStack> = {}): HostStack => ({
  interface: device,
  networks: [{ subnet, hosts: [hosts], macs: { network: { subnet, macPolicy }, records: [] } }],
  vlan: [],
  header: {},
  tcp: {},
  ...more,
});

describe('emulated hosts', () => {
  const cable = useCable('test');

  it('send requests to a server on kernel sockets, each from its own address and MAC', async () => {
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080 }], responses: [{ body: { type: 'zero', size: 3000 } }] },
      duration: { mode: 'continuous' },
    });
    const client = await runJobIn(cable.left, {
      engine: 'http',
      config: { role: 'client', targets: [{ host: cable.right.address, port: 8080 }], connections: 20, keepAlive: { maxRequests: 10 } },
      duration: { mode: 'time', seconds: 3 },
      stack: hostsOn(cable.left.device, '10.99.0.10-10.99.0.59'),
    });
    const served = await server.stop();
    console.log(client.counter('http.ok'), client.counter('http.requests'), served.counter('http.served'), client.outcome, client.histogram('http.latency').quantile?.(0.5));
    const neighbours = cable.right.run('ip', 'neigh');
    console.log(neighbours.split('\n').length, neighbours.split('\n').slice(0,3));
    expect(client.counter('http.ok')).toBeGreaterThan(1000);
  });
});
