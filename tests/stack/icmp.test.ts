import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from './sniffer.ts';

const perIp = (subnet: string) => ({
  network: { subnet, macPolicy: { mode: 'perIp', start: '02:aa:00:00:00:01' } },
  records: [],
});

const hostsOn = (side: Side, subnet: string, hosts: string, more: Partial<HostStack> = {}): HostStack => ({
  interface: side.device,
  networks: [{ subnet, hosts: [hosts], macs: perIp(subnet) }],
  vlan: [],
  header: {},
  tcp: {},
  ...more,
});
type Hosts = readonly [subnet: string, hosts: string];
const clients4: Hosts = ['10.99.0.0/24', '10.99.0.10-10.99.0.29'];
const clients6: Hosts = ['fd99::/64', 'fd99::10-fd99::23'];

const messagesTo = (host: string, more: object) => ({
  engine: 'icmp',
  config: { role: 'client', targets: [{ host, port: 1 }], timeoutMs: 500, load: { rate: 200 }, limit: 100, ...more },
  duration: { mode: 'time', seconds: 5 } as const,
});

describe('ICMP of emulated hosts', () => {
  const cable = useCable('test', ({ right }) => {
    right.run('ip', 'address', 'add', 'fd99::2/64', 'dev', right.device, 'nodad');
    right.run('sysctl', '-qw', 'net.ipv4.icmp_ratelimit=0', 'net.ipv6.icmp.ratelimit=0');
  });

  it.each<[{ target: string; hosts: Hosts }, string, string, string, string]>([
    [{ target: '10.99.0.2', hosts: clients4 }, 'ip.src', 'icmp.type == 8', 'ip.ttl', 'ip.dsfield.dscp'],
    [{ target: 'fd99::2', hosts: clients6 }, 'ipv6.src', 'icmpv6.type == 128', 'ipv6.hlim', 'ipv6.tclass.dscp'],
  ])(
    'echoes come from every host with the ordered header: %o',
    async ({ target, hosts }, source, filter, ttl, dscp) => {
      const sniffer = await startSniffer(cable.right);
      const client = await runJobIn(cable.left, {
        ...messagesTo(target, { payloadBytes: 100 }),
        stack: hostsOn(cable.left, ...hosts, { header: { ttl: 9, dscp: 46 } }),
      });
      await sniffer.stop();
      expect(client.outcome).toMatchObject({ status: 'finished', notes: [] });
      expect([client.counter('icmp.sent'), client.counter('icmp.received'), client.counter('icmp.lost')]).toEqual([
        100, 100, 0,
      ]);
      expect(client.histogram('icmp.rtt').count).toBe(100);
      const sent = await sniffer.fields(filter, [source, 'eth.src', ttl, dscp]);
      expect(new Set(sent.map(([address, mac]) => `${address} ${mac}`)).size).toBe(20);
      expect(new Set(sent.map(([, , hops, code]) => `${hops} ${code}`))).toEqual(new Set(['9 46']));
      expect(
        await sniffer.fields(`${filter} && (_ws.malformed || _ws.expert.severity >= 6291456)`, ['frame.number']),
      ).toEqual([]);
    },
  );

  it('large echoes are cut into the ordered fragments and answered', async () => {
    const sniffer = await startSniffer(cable.right);
    const client = await runJobIn(cable.left, {
      ...messagesTo('10.99.0.2', { payloadBytes: 4000, limit: 10 }),
      stack: hostsOn(cable.left, ...clients4, { header: { fragmentSize: 576, df: false } }),
    });
    await sniffer.stop();
    expect(client.counter('icmp.received')).toBe(10);
    const fragments = await sniffer.fields(
      'ip.src == 10.99.0.0/24 && ip.dst == 10.99.0.2 && (ip.flags.mf == 1 || ip.frag_offset > 0)',
      ['ip.len'],
    );
    expect(fragments.length).toBe(80);
    expect(Math.max(...fragments.map(([length]) => Number(length)))).toBeLessThanOrEqual(576);
  });

  it.each<[string, Hosts, string, string, boolean | undefined]>([
    ['timestamp', clients4, '10.99.0.2', 'icmp.type == 13', true],
    ['unreachable', clients4, '10.99.0.2', 'icmp.type == 3 && icmp.code == 3 && udp.dstport == 33434', false],
    ['redirect', clients4, '10.99.0.2', 'icmp.type == 5 && icmp.redir_gw', false],
    ['routerSolicitation', clients4, '10.99.0.2', 'icmp.type == 10 && ip.dst == 224.0.0.2', undefined],
    ['unreachable', clients6, 'fd99::2', 'icmpv6.type == 1 && udp.dstport == 33434', false],
    ['redirect', clients6, 'fd99::2', 'icmpv6.type == 137 && ipv6.hlim == 255', false],
    [
      'neighbourSolicitation',
      clients6,
      'fd99::2',
      'icmpv6.type == 135 && icmpv6.nd.ns.target_address == fd99::2',
      true,
    ],
    [
      'routerSolicitation',
      clients6,
      'fd99::2',
      'icmpv6.type == 133 && ipv6.dst == ff02::2 && eth.src[0:2] == 02:aa',
      undefined,
    ],
  ])('%s messages of %o are sent to %s', async (messageType, hosts, target, filter, isAnswered) => {
    const sniffer = await startSniffer(cable.right);
    const client = await runJobIn(cable.left, {
      ...messagesTo(target, { messageType, limit: 40 }),
      stack: hostsOn(cable.left, ...hosts),
    });
    await sniffer.stop();
    expect(client.counter('icmp.sent')).toBe(40);
    // Messages of some kinds have no answer, and nothing here answers router solicitations.
    expect(client.counter('icmp.received')).toBe(isAnswered ? 40 : 0);
    expect(client.counter('icmp.lost')).toBe(isAnswered === undefined ? 40 : 0);
    const sent = await sniffer.fields(`${filter} && eth.src[0:3] == 02:aa:00`, ['frame.number']);
    expect(sent.length).toBeGreaterThanOrEqual(40);
    expect(await sniffer.fields(`${filter} && _ws.malformed`, ['frame.number'])).toEqual([]);
  });

  it('hosts that cannot be reached are counted, and errors by code', async () => {
    cable.right.run('nft', 'add table ip t');
    cable.right.run('nft', 'add chain ip t c { type filter hook input priority 0 ; }');
    cable.right.run('nft', 'add rule ip t c icmp type echo-request reject with icmp type admin-prohibited');
    const refused = await runJobIn(cable.left, {
      ...messagesTo('10.99.0.2', { limit: 15 }),
      stack: hostsOn(cable.left, ...clients4),
    });
    expect(refused.outcome.notes).toEqual(['15 of 20 source addresses were used']);
    expect(refused.counter('icmp.unreachable.13')).toBe(15);
    const absent = await runJobIn(cable.left, {
      ...messagesTo('10.99.0.250', { limit: 20, timeoutMs: 10_000 }),
      duration: { mode: 'time', seconds: 20 },
      stack: hostsOn(cable.left, ...clients4),
    });
    expect(absent.counter('icmp.errors.unreachable')).toBe(20);
  });

  it('answers of emulated servers are counted', async () => {
    const server = await startJobIn(cable.right, {
      engine: 'icmp',
      config: { role: 'server', listen: [{ host: '0.0.0.0', port: 1 }] },
      duration: { mode: 'continuous' },
      stack: hostsOn(cable.right, '10.99.0.0/24', '10.99.0.200-10.99.0.203'),
    });
    const client = await runJobIn(cable.left, {
      ...messagesTo('10.99.0.202', {}),
      stack: hostsOn(cable.left, ...clients4),
    });
    const served = await server.stop();
    expect(client.counter('icmp.received')).toBe(100);
    expect(served.counter('icmp.answered')).toBe(100);
  });
});

describe('stateless servers on emulated hosts', () => {
  const cable = useCable('test');
  const answering = (protocol: string, more: object = {}) =>
    startJobIn(cable.right, {
      engine: 'stateless-server',
      config: { role: 'server', listen: [{ host: '0.0.0.0', port: 7 }], protocol, ...more },
      duration: { mode: 'continuous' },
      stack: hostsOn(cable.right, '10.99.0.0/24', '10.99.0.200-10.99.0.203'),
    });

  it('answer or discard echo requests', async () => {
    requireProgram('ping');
    const echo = await answering('icmp');
    expect(cable.left.run('ping', '-c', '3', '-i', '0.2', '10.99.0.201')).toContain(' 0% packet loss');
    const echoed = await echo.stop();
    expect([echoed.counter('stateless-server.received'), echoed.counter('stateless-server.answered')]).toEqual([3, 3]);
    const discard = await answering('icmp', { mode: 'discard' });
    expect(() => cable.left.run('ping', '-c', '3', '-i', '0.2', '-W', '1', '10.99.0.201')).toThrow();
    expect((await discard.stop()).counter('stateless-server.received')).toBe(3);
  });

  it('send back packets of any protocol', async () => {
    const server = await answering('raw');
    const udp = await runJobIn(cable.left, {
      engine: 'udp',
      config: {
        role: 'client',
        targets: [{ host: '10.99.0.203', port: 99 }],
        flows: 2,
        expectsEcho: true,
        load: { rate: 100 },
      },
      duration: { mode: 'count', count: 100 },
    });
    const script = [
      'import socket',
      's = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)',
      's.settimeout(5)',
      's.sendto(b"any protocol", ("10.99.0.203", 0))',
      'print(s.recv(100)[20:].decode())',
    ];
    expect(cable.left.run('python3', '-c', script.join('\n')).trim()).toBe('any protocol');
    const totals = await server.stop();
    expect(udp.counter('udp.received')).toBe(100);
    expect(totals.counter('stateless-server.received')).toBe(101);
  });
});
