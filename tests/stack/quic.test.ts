import { createSelfSigned } from '@rushhour/agent';
import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { execute, requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';

const subnet = '10.99.0.0/24';
const serverHosts = ['10.99.0.200', '10.99.0.201'];
const identity = createSelfSigned(['localhost', ...serverHosts]);
const tls = { verify: true, ca: identity.certificate, sni: 'localhost' };
const untilStopped = { mode: 'continuous' } as const;

const stackOn = ({ device }: Side, hosts: string, start: string): HostStack => ({
  interface: device,
  networks: [
    { subnet, hosts: [hosts], macs: { network: { subnet, macPolicy: { mode: 'perIp', start } }, records: [] } },
  ],
  vlan: [],
  header: {},
  tcp: {},
});

describe('emulated hosts with QUIC', () => {
  const cable = useCable('test');
  const servers = () => stackOn(cable.right, '10.99.0.200-10.99.0.201', '02:bb:00:00:00:00');
  const clients = () => stackOn(cable.left, '10.99.0.10-10.99.0.19', '02:aa:00:00:00:01');
  const targets = (port: number) => serverHosts.map((host) => ({ host, port }));

  it('carry requests and large answers of HTTP/3 between all hosts', async () => {
    const text = 'abcdefghij'.repeat(10_000);
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: {
        role: 'server',
        listen: [{ host: '0.0.0.0', port: 8443 }],
        version: '3',
        tls: { ...identity },
        responses: [{ body: { type: 'text', data: text } }],
      },
      duration: untilStopped,
      stack: servers(),
    });
    const client = await runJobIn(cable.left, {
      engine: 'http',
      config: {
        role: 'client',
        version: '3',
        targets: targets(8443),
        tls,
        connections: 10,
        maxStreams: 4,
        keepAlive: { maxRequests: 20 },
        expect: { bodyContains: 'jabcdefghij' },
      },
      duration: { mode: 'count', count: 400 },
      stack: clients(),
    });
    const served = await server.stop();
    expect([client.outcome.error, served.outcome.error]).toEqual([undefined, undefined]);
    expect([client.counter('http.ok'), client.counter('http.ko')]).toEqual([400, 0]);
    expect(served.counter('http.served')).toBe(400);
    expect(client.counter('http.rxBytes')).toBeGreaterThan(400 * text.length);
    expect(client.counter('http.connections')).toBeGreaterThanOrEqual(20);
    expect(client.histogram('http.quicHandshake').count).toBe(client.counter('http.connections'));
    expect(client.counter('stack.rxFrames')).toBeGreaterThan((400 * text.length) / 1500);
  });

  it('go on from other ports, and follow clients there', async () => {
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8443 }], version: '3', tls: { ...identity } },
      duration: untilStopped,
      stack: servers(),
    });
    const moving = { portChangeMs: 400, load: { rate: 100 }, connections: 4 };
    const client = await runJobIn(cable.left, {
      engine: 'http',
      config: { role: 'client', version: '3', targets: targets(8443), tls, ...moving },
      duration: { mode: 'time', seconds: 2 },
      stack: clients(),
    });
    const served = await server.stop();
    expect([client.outcome.error, served.outcome.error]).toEqual([undefined, undefined]);
    expect([client.counter('http.ok'), client.counter('http.ko')]).toEqual([client.counter('http.requests'), 0]);
    expect(client.counter('http.connections')).toBe(4);
    expect(client.counter('http.quicMoves')).toBeGreaterThanOrEqual(4 * 3);
    expect(served.counter('http.quicMoves')).toBeGreaterThanOrEqual(4 * 3);
  });

  it('ask by DNS over QUIC, and are asked by kdig', async () => {
    requireProgram('kdig');
    const server = await startJobIn(cable.right, {
      engine: 'dns',
      config: {
        role: 'server',
        listen: [{ host: '0.0.0.0', port: 8853, transport: 'doq' }],
        tls: { ...identity },
        answers: [{ name: 'www.example.test', type: 'A', data: '192.0.2.10' }],
      },
      duration: untilStopped,
      stack: servers(),
    });
    const client = await runJobIn(cable.left, {
      engine: 'dns',
      config: {
        role: 'client',
        transport: 'doq',
        targets: targets(8853),
        tls,
        names: ['www.example.test'],
        sockets: 4,
        concurrency: 20,
        timeoutMs: 10_000,
        load: {},
      },
      duration: { mode: 'count', count: 300 },
      stack: clients(),
    });
    const question = ['+quic', '@10.99.0.201', '-p', '8853', 'www.example.test', 'A'];
    const { stdout } = await execute('ip', ['netns', 'exec', cable.left.namespace, 'kdig', ...question]);
    const served = await server.stop();
    expect(client.counter('dns.rcode.NOERROR')).toBe(300);
    expect(stdout).toContain('192.0.2.10');
    expect(served.counter('dns.answered')).toBe(301);
  });

  it('send HTTP/3 to a server on kernel sockets', async () => {
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: {
        role: 'server',
        listen: [{ host: cable.right.address, port: 8443 }],
        version: '3',
        tls: { ...identity },
      },
      duration: untilStopped,
    });
    const client = await runJobIn(cable.left, {
      engine: 'http',
      config: {
        role: 'client',
        version: '3',
        targets: [{ host: cable.right.address, port: 8443 }],
        tls: { verify: false, resumption: 'psk' },
        connections: 5,
        keepAlive: { enabled: false },
      },
      duration: { mode: 'count', count: 60 },
      stack: clients(),
    });
    const served = await server.stop();
    expect(client.counter('http.ok')).toBe(60);
    expect(client.counter('http.resumed')).toBeGreaterThan(40);
    expect(served.counter('http.accepted')).toBe(60);
    const learnt = [...cable.right.run('ip', 'neigh').matchAll(/^10\.99\.0\.(\d+) .*lladdr 02:aa:00:00:00:(\w\w)/gm)];
    expect(learnt.length).toBe(10);
    for (const [, host, mac] of learnt) expect(Number.parseInt(mac ?? '', 16)).toBe(Number(host));
  });
});
