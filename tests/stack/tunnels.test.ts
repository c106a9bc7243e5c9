import { setTimeout as sleep } from 'node:timers/promises';
import type { HostStack, StackTunnel } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from './sniffer.ts';

const outerSubnet = '10.99.0.0/24';
const innerSubnet = '10.50.0.0/16';
const ends = [
  { client: '10.99.0.11', server: '10.99.0.21' },
  { client: '10.99.0.12', server: '10.99.0.22' },
];

const vlan = [
  { id: 55, pcp: 0, tpid: 0x8100 },
  { id: 77, pcp: 3, tpid: 0x8100 },
];

const tunnelled = (
  side: Side,
  { type, params }: Pick<StackTunnel, 'type' | 'params'>,
  { isServer, hosts }: { isServer: boolean; hosts: string },
): HostStack => {
  const local = ends.map(({ client, server }) => (isServer ? server : client));
  const remote = ends.map(({ client, server }) => (isServer ? client : server));
  return {
    interface: side.device,
    networks: [{ subnet: innerSubnet, hosts: [hosts] }],
    vlan: params['innerVlan'] === true ? vlan : [],
    header: {},
    tcp: {},
    path: 'af_packet',
    tunnel: {
      type,
      params,
      isServer,
      ends: local.map((address, index) => ({ local: address, remote: remote[index] as string })),
      outer: { subnet: outerSubnet, hosts: local },
    },
  };
};

describe('tunnels of emulated hosts', () => {
  const cable = useCable('test');

  it.each(['af_xdp', 'af_packet'] as const)(
    'vxlan ends at a device of Linux, which answers and asks (%s)',
    async (path) => {
      requireProgram('curl');
      const { left, right } = cable;
      const stack = (hosts: string): HostStack => ({
        interface: left.device,
        networks: [{ subnet: innerSubnet, hosts: [hosts] }],
        vlan: [],
        header: {},
        tcp: {},
        path,
        tunnel: {
          type: 'vxlan',
          params: { vni: 42 },
          isServer: false,
          ends: [{ local: '10.99.0.3', remote: right.address }],
          outer: { subnet: '10.99.0.0/24', hosts: ['10.99.0.3'] },
        },
      });
      const ends = ['local', right.address, 'remote', '10.99.0.3', 'dstport', '4789', 'dev', right.device];
      right.run('ip', 'link', 'add', 'vx0', 'type', 'vxlan', 'id', '42', ...ends);
      right.run('ip', 'addr', 'add', '10.50.1.1/16', 'dev', 'vx0');
      right.run('ip', 'link', 'set', 'vx0', 'up');
      const responses = [{ body: { type: 'text', data: 'segments '.repeat(3000) } }];
      const role = { role: 'server', responses };
      const duration = { mode: 'continuous' } as const;
      const linux = { ...role, listen: [{ host: '10.50.1.1', port: 8080 }] };
      const far = await startJobIn(right, { engine: 'http', config: linux, duration });
      const client = await runJobIn(left, {
        engine: 'http',
        config: { role: 'client', targets: [{ host: '10.50.1.1', port: 8080 }], connections: 8 },
        duration: { mode: 'count', count: 100 },
        stack: stack('10.50.0.1-10.50.0.8'),
      });
      expect([client.counter('http.ok'), client.counter('http.ko')]).toEqual([100, 0]);
      expect((await far.stop()).counter('http.served')).toBe(100);
      const ours = { ...role, listen: [{ host: '0.0.0.0', port: 8080 }] };
      const near = await startJobIn(left, { engine: 'http', config: ours, duration, stack: stack('10.50.0.9') });
      const answer = right.run('curl', '-sS', '--max-time', '60', 'http://10.50.0.9:8080/');
      expect(answer).toBe('segments '.repeat(3000));
      await near.stop();
    },
  );

  it.each([
    ['gre', { key: 7, checksum: true, sequence: true }, 'gre && tcp'],
    ['ipip', {}, 'ip.proto == 4 && tcp'],
    ['vxlan', { vni: 4000 }, 'vxlan && tcp'],
    ['geneve', { vni: 4000 }, 'geneve && tcp'],
    ['l2tpv3', { sessionId: 10, peerSessionId: 20, encapsulation: 'ip' }, 'ip.proto == 115'],
    // A tag outside and one inside.
    ['vxlan', { vni: 4000, innerVlan: true }, 'vxlan && vlan.id == 55 && vlan.id == 77 && vlan.priority == 3 && tcp'],
    ['gtpu', { teid: 0x1000, optionBytes: 4 }, 'gtp && tcp'],
    ['mpls', { label: 100 }, 'mpls && tcp'],
    // The label, an empty control word, and an IPv4 packet.
    ['mpls', { label: 100, controlWord: true }, 'mpls.label == 100 && frame[14:9] == 00:06:41:40:00:00:00:00:45'],
    ['wireguard', { privateKey: 'yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=' }, 'wg.type == 4'],
  ] as const)('%s carries requests to the server of every host', async (type, params, filter) => {
    const sniffer = await startSniffer(cable.right);
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: {
        role: 'server',
        listen: [{ host: '0.0.0.0', port: 8080 }],
        responses: [{ body: { type: 'zero', size: 20_000 } }],
      },
      duration: { mode: 'continuous' },
      stack: tunnelled(cable.right, { type, params }, { isServer: true, hosts: '10.50.1.1' }),
    });
    const client = await runJobIn(cable.left, {
      engine: 'http',
      config: { role: 'client', targets: [{ host: '10.50.1.1', port: 8080 }], connections: 8 },
      duration: { mode: 'count', count: 200 },
      stack: tunnelled(cable.left, { type, params }, { isServer: false, hosts: '10.50.0.1-10.50.0.8' }),
    });
    const served = await server.stop();
    await sniffer.stop();
    expect(client.counter('http.ok')).toBe(200);
    expect(served.counter('http.served')).toBe(200);
    const inside = await sniffer.fields(filter, ['ip.src', 'frame.len']);
    expect(inside.length).toBeGreaterThan(200);
    expect(Math.max(...inside.map(([, length]) => Number(length)))).toBeLessThanOrEqual(1514);
    expect(await sniffer.fields('tcp && _ws.malformed', ['frame.number'])).toEqual([]);
    if (type !== 'mpls') {
      expect([client.gauge('tunnel.count'), client.gauge('tunnel.up')]).toEqual([2, 2]);
      expect(client.histogram('tunnel.setup').count).toBe(2);
      expect(client.counter('tunnel.txPackets')).toBeGreaterThan(200);
      expect(client.counter('tunnel.rxBytes')).toBeGreaterThan(200 * 20_000);
      expect(served.counter('tunnel.errors.invalid') + served.counter('tunnel.errors.unknown')).toBe(0);
      // Both tunnels carry requests; a capture does not see what leaves the same interface by a packet socket.
      const sources = new Set(inside.map(([source = '']) => source.split(',')[0]));
      expect(sources).toEqual(new Set(ends.map((end) => end.client)));
    }
  });

  it('ends of GTP tunnels ask and answer by GTP-C, and notice that the far end is silent', async () => {
    requireProgram('python3');
    const { left, right } = cable;
    const sniffer = await startSniffer(right);
    const params = { teid: 1, echoInterval: 1 };
    const job = (role: 'client' | 'server') => ({
      engine: 'http',
      config:
        role === 'server'
          ? { role, listen: [{ host: '0.0.0.0', port: 8080 }] }
          : { role, targets: [{ host: '10.50.1.1', port: 8080 }], connections: 2, load: { rate: 20 } },
      duration: { mode: 'continuous' } as const,
    });
    const hosts = { server: '10.50.1.1', client: '10.50.0.1-10.50.0.2' };
    const server = await startJobIn(right, {
      ...job('server'),
      stack: tunnelled(right, { type: 'gtpu', params }, { isServer: true, hosts: hosts.server }),
    });
    const client = await startJobIn(left, {
      ...job('client'),
      stack: tunnelled(left, { type: 'gtpu', params }, { isServer: false, hosts: hosts.client }),
    });
    // The kernel of the other side is a stranger that asks by both versions.
    const ask = (request: string) =>
      right.run(
        'python3',
        '-c',
        `import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(20)\n` +
          `s.sendto(bytes.fromhex("${request}"), ("${ends[0]?.client}", 2123)); print(s.recv(64).hex())`,
      );
    expect(ask('3201000400000000abcd0000').trim()).toBe('3202000600000000abcd00000e00');
    expect(ask('40010009001234000300010005').trim()).toBe('40020009001234000300010000');
    await sleep(4000);
    server.signal('SIGSTOP');
    await sleep(6000);
    const { counter, gauge } = await client.stop();
    server.signal('SIGCONT');
    const served = await server.stop();
    await sniffer.stop();
    expect(counter('tunnel.echoes')).toBeGreaterThanOrEqual(4);
    expect(served.counter('tunnel.echoes')).toBeGreaterThanOrEqual(4);
    expect(counter('tunnel.echoesLost')).toBeGreaterThanOrEqual(6);
    expect([counter('tunnel.pathsDown'), gauge('tunnel.up')]).toEqual([2, 0]);
    const seen = await sniffer.fields('gtpv2 && udp.port == 2123', ['gtpv2.message_type', '_ws.malformed']);
    for (const type of ['1', '2']) expect(seen.filter(([one]) => one === type).length).toBeGreaterThanOrEqual(4);
    expect(seen.filter(([, malformed = '']) => malformed !== '')).toEqual([]);
  });
});
