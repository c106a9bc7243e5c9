import type { HostStack } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from './sniffer.ts';

const cable = useCable('file');
const count = 3000;

const stackOn = ({ device }: Side, hosts: string, start: string): HostStack => {
  const subnet = '10.0.0.0/8';
  const macs = { network: { subnet, macPolicy: { mode: 'perIp', start } }, records: [] };
  const networks = [{ subnet, hosts: [hosts], macs }];
  // Captures do not see what arrives by AF_XDP.
  return { interface: device, networks, vlan: [], header: {}, tcp: {}, path: 'af_packet' };
};

it('60,000 hosts send to 60,000 hosts: every request has another source and another target, each with its MAC', async () => {
  const server = await startJobIn(cable.right, {
    engine: 'http',
    config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080 }] },
    duration: { mode: 'continuous' },
    stack: stackOn(cable.right, '10.64.0.1-10.64.234.96', '02:bb:00:00:00:00'),
  });
  const sniffer = await startSniffer(cable.right);
  const client = await runJobIn(cable.left, {
    engine: 'http',
    config: {
      role: 'client',
      targets: [{ host: '10.64.0.1', last: '10.64.234.96', port: 8080 }],
      connections: 50,
      keepAlive: { maxRequests: 1 },
    },
    duration: { mode: 'count', count },
    stack: stackOn(cable.left, '10.128.0.1-10.128.234.96', '02:aa:00:00:00:00'),
  });
  await sniffer.stop();
  const served = await server.stop();
  expect(client.counter('http.ok')).toBe(count);
  expect(served.counter('http.served')).toBe(count);
  expect([client.gauge('stack.hosts'), served.gauge('stack.hosts')]).toEqual([60_000, 60_000]);
  expect(client.summaries.at(-1)?.series.map(({ target }) => target)).toContain('10.64.0.1-10.64.234.96:8080');
  const opened = await sniffer.fields('tcp.flags.syn==1 && tcp.flags.ack==0', [
    'ip.src',
    'eth.src',
    'ip.dst',
    'eth.dst',
  ]);
  const distinct = (column: number) => new Set(opened.map((row) => row[column])).size;
  // A busy machine does not capture all of them.
  const seen = distinct(0);
  expect(seen).toBeGreaterThan(100);
  expect([0, 1, 2, 3].map(distinct)).toEqual([seen, seen, seen, seen]);
});
