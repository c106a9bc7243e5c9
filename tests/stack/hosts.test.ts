import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { type Sniffer, startSniffer } from './sniffer.ts';

const networkOf = (subnet: string, hosts: string, macPolicy: object) => ({
  subnet,
  hosts: [hosts],
  macs: { network: { subnet, macPolicy }, records: [] },
});
const perIp = { mode: 'perIp', start: '02:aa:00:00:00:01' };
const serverMac = { mode: 'shared', start: '02:bb:00:00:00:01' };

const stackOn = (side: Side, networks: HostStack['networks'], more: Partial<HostStack> = {}): HostStack => ({
  interface: side.device,
  networks,
  vlan: [],
  header: {},
  tcp: {},
  ...more,
});

const clients = (side: Side, more?: Partial<HostStack>, subnet = '10.99.0.0/24', hosts = '10.99.0.10-10.99.0.59') =>
  stackOn(side, [networkOf(subnet, hosts, perIp)], more);
const servers = (side: Side, more?: Partial<HostStack>, subnet = '10.99.0.0/24', hosts = '10.99.0.200-10.99.0.203') =>
  stackOn(side, [networkOf(subnet, hosts, serverMac)], more);

const listen = [{ host: '0.0.0.0', port: 8080 }];
const tagTypes = [0x8100, 0x88a8, 0x9100];
const untilStopped = { mode: 'continuous' } as const;
const oneSecond = { mode: 'time', seconds: 1 } as const;
const targetsAt = (...hosts: string[]) => hosts.map((host) => ({ host, port: 8080 }));

describe('emulated hosts', () => {
  const cable = useCable('test');

  const watching = async (work: () => Promise<unknown>): Promise<Sniffer> => {
    const sniffer = await startSniffer(cable.right);
    await work();
    await sniffer.stop();
    return sniffer;
  };

  it('send requests to a server on kernel sockets, each from its own address and MAC', async () => {
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: { role: 'server', listen, responses: [{ body: { type: 'zero', size: 3000 } }] },
      duration: untilStopped,
    });
    const client = await runJobIn(cable.left, {
      engine: 'http',
      config: {
        role: 'client',
        targets: targetsAt(cable.right.address),
        connections: 20,
        keepAlive: { maxRequests: 10 },
      },
      duration: oneSecond,
      stack: clients(cable.left),
    });
    const served = await server.stop();
    expect(client.counter('http.ok')).toBeGreaterThan(500);
    expect(client.counter('http.requests')).toBe(client.counter('http.ok'));
    expect(served.counter('http.served')).toBe(client.counter('http.requests'));
    // The kernel at the other end has learnt all 50 by ARP.
    const learnt = [...cable.right.run('ip', 'neigh').matchAll(/^(10\.99\.0\.\d+) .*lladdr (\S+)/gm)];
    const macs = Object.fromEntries(learnt.map(([, address, mac]) => [address, mac]));
    const expected = Array.from({ length: 50 }, (_, i) => [
      `10.99.0.${i + 10}`,
      `02:aa:00:00:00:${(i + 10).toString(16).padStart(2, '0')}`,
    ]);
    expect(macs).toMatchObject(Object.fromEntries(expected));
  });

  it.each([
    ['HTTP/1.1', {}, {}],
    ['HTTP/1.1 over TLS', { tls: {} }, { tls: {} }],
    ['HTTP/2', { version: '2', maxStreams: 4 }, { version: '2' }],
    ['HTTP/2 over TLS', { version: '2', tls: { alpn: ['h2'] } }, { version: '2', tls: {} }],
  ])('serve %s to each other', async (_name, clientMore, serverMore) => {
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: { role: 'server', listen, responses: [{ body: { type: 'zero', size: 20_000 } }], ...serverMore },
      duration: untilStopped,
      stack: servers(cable.right),
    });
    const client = await runJobIn(cable.left, {
      engine: 'http',
      config: {
        role: 'client',
        targets: targetsAt('10.99.0.200', '10.99.0.203'),
        connections: 8,
        keepAlive: { maxRequests: 20 },
        ...clientMore,
      },
      duration: { mode: 'count', count: 200 },
      stack: clients(cable.left),
    });
    const served = await server.stop();
    expect(client.outcome.error).toBeUndefined();
    expect(client.counter('http.ok')).toBe(200);
    expect(client.counter('http.ko')).toBe(0);
    expect(served.counter('http.served')).toBe(client.counter('http.requests'));
  });

  it('use IPv6 with neighbour discovery in both directions', async () => {
    const [subnet, more] = ['fd99::/64', {}] as const;
    const server = await startJobIn(cable.right, {
      engine: 'tcp',
      config: { role: 'server', listen: [{ host: '::', port: 8080 }], mode: 'echo' },
      duration: untilStopped,
      stack: servers(cable.right, more, subnet, 'fd99::200'),
    });
    const client = await runJobIn(cable.left, {
      engine: 'tcp',
      config: {
        role: 'client',
        mode: 'echo',
        targets: targetsAt('fd99::200'),
        payload: { type: 'zero', size: 5000 },
        connections: 5,
      },
      duration: oneSecond,
      stack: clients(cable.left, more, subnet, 'fd99::10-fd99::20'),
    });
    await server.stop();
    expect(client.counter('tcp.rxBytes')).toBeGreaterThan(100_000);
    expect(client.counter('tcp.failed')).toBe(0);
  });

  it('write the header fields, VLAN tags and TCP options that are ordered', async () => {
    const vlan = [
      { id: 100, pcp: 5, tpid: 0x88a8 },
      { id: 7, pcp: 3, tpid: 0x8100 },
    ];
    const header = { ttl: 33, dscp: 46, df: false };
    const tcp = { mss: 1000, window: 30_000, sack: false, timestamps: false, synRetries: 1 };
    const sniffer = await watching(async () => {
      const server = await startJobIn(cable.right, {
        engine: 'http',
        config: { role: 'server', listen },
        duration: untilStopped,
        stack: servers(cable.right, { vlan }),
      });
      const client = await runJobIn(cable.left, {
        engine: 'http',
        config: { role: 'client', targets: targetsAt('10.99.0.200'), connections: 3 },
        duration: { mode: 'count', count: 30 },
        stack: clients(cable.left, { vlan, header, tcp }),
      });
      expect(client.counter('http.ok')).toBe(30);
      await server.stop();
    });
    const sent = await sniffer.fields('ip.dst==10.99.0.200 && tcp', [
      'ieee8021ad.id',
      'vlan.id',
      'vlan.priority',
      'ip.ttl',
      'ip.dsfield.dscp',
      'ip.flags.df',
    ]);
    expect(sent.length).toBeGreaterThan(30);
    expect(new Set(sent.map((row) => row.join(' ')))).toEqual(new Set(['100 7 3 33 46 0']));
    const opening = await sniffer.fields('ip.dst==10.99.0.200 && tcp.flags.syn==1', [
      'tcp.options.mss_val',
      'tcp.window_size_value',
      'tcp.options.sack_perm',
      'tcp.options.timestamp.tsval',
    ]);
    expect(new Set(opening.map((row) => row.join(' ')))).toEqual(new Set(['1000 30000  ']));
  });

  it.each([
    ['a single service tag', [0x88a8]],
    ['two customer tags', [0x8100, 0x8100]],
    ['an outer tag of old equipment', [0x9100, 0x8100]],
  ])('write tags of the type that is ordered: %s', async (_name, types) => {
    const vlan = types.map((tpid, index) => ({ id: 100 + index, pcp: 0, tpid }));
    const sniffer = await watching(async () => {
      const config = { role: 'server', listen };
      const stack = servers(cable.right, { vlan });
      const server = await startJobIn(cable.right, { engine: 'http', config, duration: untilStopped, stack });
      const client = await runJobIn(cable.left, {
        engine: 'http',
        config: { role: 'client', targets: targetsAt('10.99.0.200'), connections: 1 },
        duration: { mode: 'count', count: 5 },
        stack: clients(cable.left, { vlan }),
      });
      expect(client.counter('http.ok')).toBe(5);
      await server.stop();
    });
    // The type of each tag stands before it: first that of the frame, then those of the tags.
    for (const filter of ['arp', 'tcp']) {
      const sent = await sniffer.fields(`eth.src[0:2] == 02:aa && ${filter}`, ['eth.type', 'vlan.etype']);
      const written = sent.map((row) =>
        row
          .join(',')
          .split(',')
          .map(Number)
          .filter((type) => tagTypes.includes(type)),
      );
      expect(written.length).toBeGreaterThan(0);
      for (const seen of written) expect(seen).toEqual(types);
    }
  });

  it('reach other networks through their gateway, and tshark finds nothing wrong', async () => {
    // The right side is a router between the hosts and a server behind it.
    cable.right.run('ip', 'addr', 'add', '10.98.0.1/24', 'dev', 'lo');
    const sniffer = await watching(async () => {
      const server = await startJobIn(cable.right, {
        engine: 'http',
        config: {
          role: 'server',
          listen: [{ host: '10.98.0.1', port: 8080 }],
          responses: [{ body: { type: 'zero', size: 100_000 } }],
        },
        duration: untilStopped,
      });
      const client = await runJobIn(cable.left, {
        engine: 'http',
        config: { role: 'client', targets: targetsAt('10.98.0.1'), connections: 4, load: { rate: 100 } },
        duration: oneSecond,
        stack: stackOn(cable.left, [
          { ...networkOf('10.99.0.0/24', '10.99.0.10-10.99.0.13', perIp), gateway: cable.right.address },
        ]),
      });
      expect(client.counter('http.ok')).toBeGreaterThan(80);
      await server.stop();
    });
    const wrong = await sniffer.fields(
      // Frames of the two directions may be captured in another order than they were sent.
      'ip.src==10.99.0.8/29 && (_ws.malformed || _ws.expert.severity >= 6291456 || tcp.analysis.retransmission) && !tcp.analysis.ack_lost_segment && !tcp.analysis.lost_segment',
      ['frame.number', '_ws.expert.message'],
    );
    // A sender that was not run in time repeats what had arrived, which is reported to it as it should.
    expect(wrong.filter(([, message = '']) => !message.startsWith('D-SACK'))).toEqual([]);
  });

  it('say who cannot be reached, and refuse what nothing listens for', async () => {
    const client = await runJobIn(cable.left, {
      engine: 'tcp',
      config: { role: 'client', mode: 'connect', targets: targetsAt('10.99.0.250'), connections: 1 },
      duration: { mode: 'time', seconds: 4 },
      stack: clients(cable.left),
    });
    expect(client.counter('tcp.errors.unreachable')).toBeGreaterThan(0);
    expect(client.counter('stack.neighbourFailures')).toBeGreaterThan(0);
    expect(client.gauge('stack.hosts')).toBe(50);
    const refused = await runJobIn(cable.left, {
      engine: 'tcp',
      config: { role: 'client', mode: 'connect', targets: [{ host: cable.right.address, port: 9 }], connections: 1 },
      duration: oneSecond,
      stack: clients(cable.left),
    });
    expect(refused.counter('tcp.errors.refused')).toBeGreaterThan(0);
  });

  it('exchange datagrams and answer questions', async () => {
    const server = await startJobIn(cable.right, {
      engine: 'udp',
      config: { role: 'server', listen, echoes: true },
      duration: untilStopped,
      stack: servers(cable.right),
    });
    const client = await runJobIn(cable.left, {
      engine: 'udp',
      config: { role: 'client', targets: targetsAt('10.99.0.201'), flows: 5, expectsEcho: true, load: { rate: 500 } },
      duration: { mode: 'count', count: 500 },
      stack: clients(cable.left),
    });
    const served = await server.stop();
    expect(client.counter('udp.sent')).toBe(500);
    expect(served.counter('udp.received')).toBe(500);
  });

  it('answer ping beside the machine itself, and leave the interface as it was', async () => {
    requireProgram('ping');
    const state = () => cable.left.run('ip', '-d', 'addr').replaceAll(' tentative', '');
    const before = state();
    const server = await startJobIn(cable.left, {
      engine: 'tcp',
      config: { role: 'server', listen, mode: 'sink' },
      duration: untilStopped,
      stack: servers(cable.left),
    });
    for (const address of ['10.99.0.202', cable.left.address])
      expect(cable.right.run('ping', '-c', '3', '-i', '0.2', address)).toContain(' 0% packet loss');
    expect(cable.left.run('ping', '-c', '3', '-i', '0.2', cable.right.address)).toContain(' 0% packet loss');
    await server.stop();
    expect(state()).toBe(before);
  });
});
