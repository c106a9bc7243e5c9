import { describe, expect, it } from 'vitest';
import { runJobIn, startJobIn } from '../namespaces.ts';
import { takePriority } from '../priority.ts';
import { stopNeighbourDiscovery, useCable } from '../use-cable.ts';
import { startCapture } from './arrivals.ts';
import { port, receiver, sender } from './stream-jobs.ts';

takePriority();

const cable = useCable('test', stopNeighbourDiscovery);

describe('streams cut into fragments', () => {
  const sizes = { mix: [{ frameSize: 1518, weight: 1 }] };

  it('arrive in pieces of the ordered size, which a kernel puts together, and count as whole frames', async () => {
    const capture = await startCapture(cable.right);
    const server = await startJobIn(cable.right, receiver());
    const headers = { fragmentBytes: 500, vlan: [] };
    const sent = await runJobIn(cable.left, sender({ sizes, headers, streams: 3, load: { rate: 300 } }));
    const received = await server.stop();
    const frames = sent.counter('stream.sent');
    expect(frames).toBeGreaterThan(250);
    expect([received.counter('stream.received'), received.counter('stream.rxBytes')]).toEqual([frames, frames * 1514]);
    expect([received.counter('stream.lost'), received.counter('stream.duplicates')]).toEqual([0, 0]);
    // tshark puts the fragments together and checks the checksum of the datagram.
    const rows = await capture.read('ip.flags.mf == 1 || ip.frag_offset > 0', 'ip.len', 'udp.checksum.status');
    expect(rows).toHaveLength(frames * 4);
    expect(new Set(rows)).toEqual(new Set(['500\t', '60\t1']));
    const reassembled = cable.right.run('nstat', '-asz', 'IpReasmOKs');
    expect(Number(/IpReasmOKs\s+(\d+)/.exec(reassembled)?.[1])).toBe(frames);
  });

  it('may be larger than the MTU, in VLANs and over IPv6', async () => {
    const { left, right } = cable;
    left.run('ip', 'address', 'add', 'fd99::1/64', 'dev', left.device, 'nodad');
    const targets = [{ host: 'fd99::77', port }];
    const capture = await startCapture(right);
    const server = await startJobIn(right, receiver({ listen: targets, protocol: 'other' }));
    const headers = { fragmentBytes: 1280, vlan: [{ id: 7 }] };
    const large = { mix: [{ frameSize: 4000, weight: 1 }] };
    const sources = { addresses: ['fd99::a'] };
    const sent = await runJobIn(left, sender({ targets, sources, sizes: large, headers, load: { rate: 200 } }));
    const received = await server.stop();
    const frames = sent.counter('stream.sent');
    expect(frames).toBeGreaterThan(150);
    expect([received.counter('stream.received'), received.counter('stream.rxBytes')]).toEqual([frames, frames * 3996]);
    const rows = await capture.read('ipv6.fraghdr', 'vlan.id', 'ipv6.plen', 'udp.checksum.status');
    expect(rows).toHaveLength(frames * 4);
    expect(new Set(rows.map((row) => row.replace(/\t1$/, '\t')))).toEqual(new Set(['7\t1240\t', '7\t250\t']));
    expect(rows.filter((row) => row.endsWith('\t1'))).toHaveLength(frames);
  });
});

const networkWith = (subnet: string, macPolicy: object, more: object = {}) => [
  { subnet, hosts: [subnet], macs: { network: { subnet, macPolicy }, records: [] }, ...more },
];

describe('hosts of streams', () => {
  it('send from their MACs, and answer with their MACs where they are targets', async () => {
    const { left, right } = cable;
    const [near, far] = [
      networkWith('10.99.0.32/28', { mode: 'derived', prefix: '02:1a:4c' }),
      networkWith('10.99.0.64/28', { mode: 'derived', prefix: '02:77:01' }),
    ];
    const capture = await startCapture(right);
    const targets = ['10.99.0.65', '10.99.0.66'].map((host) => ({ host, port }));
    const server = await startJobIn(right, receiver({ listen: targets, hosts: far, protocol: 'other' }));
    const sources = { addresses: ['10.99.0.33', '10.99.0.34', '10.99.0.35', '10.99.0.36'] };
    const config = { targets, sources, hosts: near, streams: 4, rotation: 'roundRobin', load: { rate: 400 } };
    const sent = await runJobIn(left, sender(config));
    const received = await server.stop();
    expect(sent.counter('stream.sent')).toBeGreaterThan(350);
    expect(received.counter('stream.received')).toBe(sent.counter('stream.sent'));
    const arp = ['arp.src.proto_ipv4', 'arp.src.hw_mac'];
    const rows = await capture.read('udp || arp.opcode == 1', 'ip.src', 'eth.src', 'ip.dst', 'eth.dst', ...arp);
    const macs = new Map<string, string>();
    const asked: [string, string][] = [];
    for (const row of rows) {
      const [source = '', sourceMac = '', target = '', targetMac = '', asker = '', askerMac = ''] = row.split('\t');
      if (asker !== '') asked.push([asker, askerMac]);
      else macs.set(source, sourceMac).set(target, targetMac);
    }
    expect(Object.fromEntries([...macs].toSorted())).toEqual({
      '10.99.0.33': expect.stringMatching(/^02:1a:4c:/),
      '10.99.0.34': expect.stringMatching(/^02:1a:4c:/),
      '10.99.0.35': expect.stringMatching(/^02:1a:4c:/),
      '10.99.0.36': expect.stringMatching(/^02:1a:4c:/),
      '10.99.0.65': expect.stringMatching(/^02:77:01:/),
      '10.99.0.66': expect.stringMatching(/^02:77:01:/),
    });
    expect(new Set(macs.values()).size).toBe(6);
    // Requests of the hosts name their own MACs, so that switches and caches learn those.
    const own = asked.filter(([address]) => macs.has(address));
    expect(own.length).toBeGreaterThan(0);
    for (const [address, mac] of own) expect(mac).toBe(macs.get(address));
  });

  it('send to the given MAC of their gateway, and ask nobody for it', async () => {
    const { left, right } = cable;
    const gateway = { gateway: '10.99.0.46', gatewayMac: '02:00:00:00:00:99' };
    const hosts = networkWith('10.99.0.32/28', { mode: 'shared', start: '02:55:00:00:00:01' }, gateway);
    const capture = await startCapture(right);
    const targets = [{ host: '10.98.0.5', port }];
    const sources = { addresses: ['10.99.0.33'] };
    const sent = await runJobIn(left, sender({ targets, sources, hosts, load: { rate: 50 } }));
    expect(sent.counter('stream.sent')).toBeGreaterThan(40);
    const rows = await capture.read('udp || arp', 'eth.src', 'eth.dst');
    expect(new Set(rows)).toEqual(new Set(['02:55:00:00:00:01\t02:00:00:00:00:99']));
  });
});
