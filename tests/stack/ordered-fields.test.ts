import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import type { JobOptions } from '../engines/job.ts';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { type Sniffer, startSniffer } from './sniffer.ts';

const [subnet, hosts] = ['10.99.0.0/24', '10.99.0.10-10.99.0.13'];
const addresses = [10, 11, 12, 13].map((last) => `10.99.0.${last}`);
const overridden = [{ ip: '10.99.0.11', mac: '02:cc:00:00:00:11' }];

interface Macs {
  readonly macPolicy: object;
  readonly macOverrides?: object[];
}

const stackOn = (
  { device }: Side,
  network: Partial<HostStack['networks'][0]> & { readonly rules?: Macs },
  more: Partial<HostStack> = {},
): HostStack => {
  const { rules, ...rest } = network;
  const macs = rules && { macs: { network: { subnet, ...rules }, records } };
  return {
    interface: device,
    networks: [{ subnet, hosts: [hosts], ...macs, ...rest }],
    vlan: [],
    header: {},
    tcp: {},
    ...more,
  };
};

const records = [
  { id: 4, kind: 'range', address: '02:dd:00:00:00:08', count: 2 },
  { id: 5, kind: 'address', address: '02:dd:00:00:00:01' },
  { id: 6, kind: 'address', address: '02:dd:00:00:00:05' },
];

const deviceMac = ({ run, device }: Side): string => run('cat', `/sys/class/net/${device}/address`).trim();

describe('emulated hosts', () => {
  const cable = useCable('test');

  /** Requests on a connection each, from all hosts, to a kernel that answers on the right. */
  const requestsOf = async (
    stack: HostStack,
    { host = cable.right.address, ...more }: { host?: string; sources?: object } = {},
  ): Promise<Sniffer> => {
    const listen = [{ host, port: 8080 }];
    const body = { type: 'zero', size: 3000 };
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: { role: 'server', listen, responses: [{ body }] },
      duration: { mode: 'continuous' },
    });
    const sniffer = await startSniffer(cable.right);
    const config = { role: 'client', targets: listen, connections: 1, keepAlive: { enabled: false }, ...more };
    const options: JobOptions = { engine: 'http', config, duration: { mode: 'count', count: 12 }, stack };
    const client = await runJobIn(cable.left, options);
    expect([client.counter('http.ok'), client.counter('http.ko')]).toEqual([12, 0]);
    await sniffer.stop();
    await server.stop();
    return sniffer;
  };

  const macsOf = async (sniffer: Sniffer, filter: string, names: string[]): Promise<Record<string, string>> => {
    const rows = new Set((await sniffer.fields(filter, names)).map((row) => row.join(' ')));
    expect(rows.size).toBe(addresses.length);
    return Object.fromEntries([...rows].map((row) => row.split(' ')));
  };

  // The first host is the tenth of its network.
  it.each<[string, Macs, readonly string[] | undefined]>([
    ['one for all', { macPolicy: { mode: 'shared', macId: 6 } }, Array(4).fill('02:dd:00:00:00:05')],
    [
      'derived from the address',
      { macPolicy: { mode: 'derived' } },
      [10, 11, 12, 13].map((last) => `02:00:0a:63:00:${last.toString(16).padStart(2, '0')}`),
    ],
    [
      'one after the other, with a step, but for one host',
      { macPolicy: { mode: 'perIp', start: '02:aa:00:00:00:01', step: 2 }, macOverrides: overridden },
      ['02:aa:00:00:00:13', '02:cc:00:00:00:11', '02:aa:00:00:00:17', '02:aa:00:00:00:19'],
    ],
    [
      'from records, the lowest first and over again',
      { macPolicy: { mode: 'pool', macIds: [6, 4, 5] }, macOverrides: [{ ip: '10.99.0.13', macId: 5 }] },
      ['02:dd:00:00:00:05', '02:dd:00:00:00:08', '02:dd:00:00:00:09', '02:dd:00:00:00:01'],
    ],
    ['at random under a prefix', { macPolicy: { mode: 'random', prefix: '02:ee', seed: 7 } }, undefined],
    ['that of the interface', { macPolicy: { mode: 'interface' } }, []],
  ])('have the MAC that is ordered in frames and answers: %s', async (_name, rules, expected) => {
    const sniffer = await requestsOf(stackOn(cable.left, { rules }));
    const inFrames = await macsOf(sniffer, 'ip.src == 10.99.0.8/29 && tcp', ['ip.src', 'eth.src']);
    const inArp = await macsOf(sniffer, 'arp.src.proto_ipv4 == 10.99.0.8/29', ['arp.src.proto_ipv4', 'arp.src.hw_mac']);
    expect(inArp).toEqual(inFrames);
    const learnt = [...cable.right.run('ip', 'neigh').matchAll(/^(10\.99\.0\.\d+) .*lladdr (\S+)/gm)];
    expect(inFrames).toEqual(Object.fromEntries(learnt.map(([, address, mac]) => [address, mac])));
    const all = addresses.map((address) => inFrames[address]);
    if (expected === undefined) {
      expect(new Set(all).size).toBe(4);
      for (const mac of all) expect(mac).toMatch(/^02:ee:/);
    } else expect(all).toEqual(expected.length === 0 ? Array(4).fill(deviceMac(cable.left)) : expected);
  });

  it('send to the given MAC of their gateway, and ask nobody for it', async () => {
    cable.right.run('ip', 'addr', 'add', '10.98.0.1/24', 'dev', 'lo');
    const gatewayMac = deviceMac(cable.right);
    const sniffer = await requestsOf(stackOn(cable.left, { gateway: '10.99.0.77', gatewayMac }), { host: '10.98.0.1' });
    expect(await sniffer.fields('arp.dst.proto_ipv4 == 10.99.0.77', ['arp.opcode'])).toEqual([]);
    const receivers = await sniffer.fields('ip.dst == 10.98.0.1', ['eth.dst']);
    expect(new Set(receivers.flat())).toEqual(new Set([gatewayMac]));
  });

  it('write ECN bits, negotiate ECN of TCP and use the ordered ports', async () => {
    const stack = stackOn(cable.left, {}, { header: { ecn: 1 }, tcp: { ecn: true } });
    const sniffer = await requestsOf(stack, { sources: { portRange: '20000-20009' } });
    const opening = await sniffer.fields('tcp.dstport == 8080 && tcp.flags.syn == 1', ['tcp.flags', 'ip.dsfield.ecn']);
    // SYN, ECE and CWR.
    expect(new Set(opening.map((row) => row.join(' ')))).toEqual(new Set(['0x00c2 1']));
    const ports = (await sniffer.fields('tcp.dstport == 8080', ['tcp.srcport'])).flat().map(Number);
    expect(Math.min(...ports)).toBeGreaterThanOrEqual(20_000);
    expect(Math.max(...ports)).toBeLessThanOrEqual(20_009);
  });

  it('write traffic class, flow label and hop limit of IPv6', async () => {
    cable.right.run('ip', 'addr', 'add', 'fd99::2/64', 'dev', cable.right.device, 'nodad');
    const network = { subnet: 'fd99::/64', hosts: ['fd99::10-fd99::13'] };
    const header = { ttl: 7, dscp: 10, ecn: 2, flowLabel: 0x12345 };
    const sniffer = await requestsOf(stackOn(cable.left, network, { header }), { host: 'fd99::2' });
    const sent = await sniffer.fields('ipv6.dst == fd99::2 && tcp', ['ipv6.hlim', 'ipv6.tclass', 'ipv6.flow']);
    expect(new Set(sent.map((row) => row.map(Number).join(' ')))).toEqual(new Set([`7 ${0x2a} ${0x12345}`]));
  });

  it('cut packets of TCP into the ordered fragments, which a kernel puts together', async () => {
    const server = await startJobIn(cable.left, {
      engine: 'http',
      config: { role: 'server', listen: [{ host: '0.0.0.0', port: 8080 }], responses: [{ body: largeBody }] },
      duration: { mode: 'continuous' },
      stack: stackOn(cable.left, {}, { header: { fragmentSize: 500, df: false } }),
    });
    const sniffer = await startSniffer(cable.right);
    const answer = cable.right.run('curl', '-sS', '--max-time', '60', 'http://10.99.0.10:8080/');
    await sniffer.stop();
    await server.stop();
    expect(answer).toBe('fragments '.repeat(1000));
    const packets = await sniffer.fields('ip.src == 10.99.0.10 && ip.frag_offset > 0', ['ip.len', 'ip.flags.mf']);
    expect(packets.length).toBeGreaterThan(10);
    expect(new Set(packets.flatMap(([length, isMore]) => (isMore === '1' ? [length] : [])))).toEqual(new Set(['500']));
  });

  it('write wrong checksums, which a kernel drops, and repeat a SYN as often as ordered', async () => {
    const sniffer = await startSniffer(cable.right);
    const invalid = { header: { invalidChecksum: true }, tcp: { synRetries: 1 } };
    const client = await runJobIn(cable.left, {
      engine: 'tcp',
      config: {
        role: 'client',
        mode: 'connect',
        targets: [{ host: cable.right.address, port: 8080 }],
        connections: 1,
        connectTimeoutMs: 60_000,
        totalSessions: 1,
      },
      duration: { mode: 'time', seconds: 5 },
      stack: stackOn(cable.left, {}, invalid),
    });
    await sniffer.stop();
    expect(client.counter('tcp.established')).toBe(0);
    // A kernel whose port is closed would have answered by RST.
    expect(await sniffer.fields('tcp.srcport == 8080', ['frame.number'])).toEqual([]);
    expect(await sniffer.fields('tcp.dstport == 8080', ['tcp.flags'])).toEqual([['0x0002'], ['0x0002']]);
  });
});

const largeBody = { type: 'text', data: 'fragments '.repeat(1000) } as const;
