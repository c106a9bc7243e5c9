import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from './sniffer.ts';

const subnets = { 4: '10.99.0.0/24', 6: 'fd99::/64' } as const;
const macs = (subnet: string, start: string) => ({
  network: { subnet, macPolicy: { mode: 'perIp', start } },
  records: [],
});

const stackOn = (side: Side, hosts: string, more: Partial<HostStack> = {}): HostStack => {
  const subnet = subnets[hosts.includes(':') ? 6 : 4];
  const networks = [{ subnet, hosts: [hosts], macs: macs(subnet, '02:aa:00:00:00:01') }];
  return { interface: side.device, networks, vlan: [], header: {}, tcp: {}, ...more };
};

const listen = [{ host: '0.0.0.0', port: 8080 }];
const untilStopped = { mode: 'continuous' } as const;
const targetsAt = (...hosts: string[]) => hosts.map((host) => ({ host, port: 8080 }));
const twoCores = { cpuCores: 2 } as const;

describe('emulated hosts on two workers', () => {
  const cable = useCable('test');

  it('send from all their addresses, and a server on kernel sockets counts the same', async () => {
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: { role: 'server', listen, responses: [{ body: { type: 'zero', size: 3000 } }] },
      duration: untilStopped,
    });
    const sniffer = await startSniffer(cable.right);
    const client = await runJobIn(cable.left, {
      ...twoCores,
      engine: 'http',
      config: {
        role: 'client',
        targets: targetsAt(cable.right.address),
        connections: 20,
        keepAlive: { maxRequests: 5 },
      },
      duration: { mode: 'count', count: 1001 },
      stack: stackOn(cable.left, '10.99.0.10-10.99.0.58'),
    });
    await sniffer.stop();
    const served = await server.stop();
    expect(client.outcome.notes.filter((note) => note.includes('core'))).toEqual([]);
    expect(client.counter('http.ok')).toBe(1001);
    expect(client.counter('http.ko')).toBe(0);
    expect(served.counter('http.served')).toBe(1001);
    expect(client.gauge('stack.hosts')).toBe(49);
    const opened = await sniffer.fields('tcp.flags.syn==1 && tcp.flags.ack==0', ['ip.src', 'eth.src']);
    const expected = Array.from({ length: 49 }, (_, i) => [
      `10.99.0.${i + 10}`,
      `02:aa:00:00:00:${(i + 10).toString(16).padStart(2, '0')}`,
    ]);
    expect(Object.fromEntries(opened)).toEqual(Object.fromEntries(expected));
    expect(await sniffer.fields('tcp.flags.reset==1 && ip.src==10.99.0.0/24', ['frame.number'])).toEqual([]);
  });

  it.each([
    [
      'IPv4 in VLANs, in fragments',
      '10.99.0.200',
      { header: { fragmentSize: 400, df: false }, vlan: [{ id: 9, pcp: 0, tpid: 0x8100 }] },
    ],
    ['IPv6', 'fd99::200', {}],
  ])('serve and ask at once over %s', async (_name, address, more) => {
    const isV6 = address.includes(':');
    const server = await startJobIn(cable.right, {
      ...twoCores,
      engine: 'http',
      config: {
        role: 'server',
        listen: [{ host: isV6 ? '::' : '0.0.0.0', port: 8080 }],
        responses: [{ body: { type: 'zero', size: 3000 } }],
      },
      duration: untilStopped,
      stack: stackOn(cable.right, address, more),
    });
    const client = await runJobIn(cable.left, {
      ...twoCores,
      engine: 'http',
      config: { role: 'client', targets: targetsAt(address), connections: 10, keepAlive: { maxRequests: 3 } },
      duration: { mode: 'count', count: 301 },
      stack: stackOn(cable.left, isV6 ? 'fd99::10-fd99::20' : '10.99.0.10-10.99.0.20', more),
    });
    const served = await server.stop();
    expect(client.counter('http.ok')).toBe(301);
    expect(client.counter('http.ko')).toBe(0);
    expect(served.counter('http.served')).toBe(301);
  });

  it('serve one address to clients on kernel sockets and answer ARP and ping once', async () => {
    requireProgram('ping');
    const server = await startJobIn(cable.left, {
      ...twoCores,
      engine: 'http',
      config: { role: 'server', listen, responses: [{ body: { type: 'zero', size: 20_000 } }] },
      duration: untilStopped,
      stack: stackOn(cable.left, '10.99.0.200'),
    });
    const sniffer = await startSniffer(cable.right);
    expect(cable.right.run('ping', '-c', '3', '-i', '0.2', '10.99.0.200')).not.toContain('DUP!');
    const client = await runJobIn(cable.right, {
      engine: 'http',
      config: { role: 'client', targets: targetsAt('10.99.0.200'), connections: 16, keepAlive: { maxRequests: 10 } },
      duration: { mode: 'count', count: 500 },
    });
    await sniffer.stop();
    const served = await server.stop();
    expect(client.counter('http.ok')).toBe(500);
    expect(client.counter('http.ko')).toBe(0);
    expect(served.counter('http.served')).toBe(500);
    expect(served.gauge('stack.hosts')).toBe(1);
    const asked = await sniffer.fields(
      'arp.opcode==1 && arp.dst.proto_ipv4==10.99.0.200 && arp.src.proto_ipv4!=10.99.0.200',
      ['frame.number'],
    );
    const answered = await sniffer.fields('arp.opcode==2 && arp.src.proto_ipv4==10.99.0.200', ['frame.number']);
    expect(asked.length).toBeGreaterThan(0);
    expect(answered.length).toBe(asked.length);
    expect(await sniffer.fields('icmp.type==0', ['frame.number'])).toHaveLength(3);
  });

  it('exchange datagrams, and both sides count the same', async () => {
    const server = await startJobIn(cable.right, {
      ...twoCores,
      engine: 'udp',
      config: { role: 'server', listen, echoes: true },
      duration: untilStopped,
      stack: stackOn(cable.right, '10.99.0.200'),
    });
    const client = await runJobIn(cable.left, {
      ...twoCores,
      engine: 'udp',
      config: { role: 'client', targets: targetsAt('10.99.0.200'), flows: 20, expectsEcho: true, load: { rate: 500 } },
      duration: { mode: 'count', count: 501 },
      stack: stackOn(cable.left, '10.99.0.10-10.99.0.20'),
    });
    const served = await server.stop();
    expect(client.counter('udp.sent')).toBe(501);
    expect(served.counter('udp.received')).toBe(501);
    expect(client.counter('udp.received')).toBe(501);
  });
});
