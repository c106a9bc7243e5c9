import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMpls, defaultTcpSettings, type TcpEvents, TunnelSet, vlanTags } from '@rushhour/wire';
import { afterAll, expect, it } from 'vitest';
import { consecutiveHosts, FrameLab, flowKey, pcapOf } from '../../packages/wire/src/testing/frame-lab.ts';
import { tunnelKinds } from '../../packages/wire/src/testing/tunnel-kinds.ts';

const folder = mkdtempSync(join(tmpdir(), 'rushhour-tunnels-'));
afterAll(() => rmSync(folder, { recursive: true }));
const silent: TcpEvents = { onOpen() {}, onData() {}, onSent() {}, onEnd() {}, onClose() {} };

const dissect = (frames: readonly Uint8Array[], ...args: string[]): string => {
  const capture = join(folder, 'frames.pcap');
  writeFileSync(capture, pcapOf(frames));
  const options = ['tcp', 'udp', 'ip'].flatMap((name) => ['-o', `${name}.check_checksum:TRUE`]);
  const run = (program: string, all: string[]) =>
    execFileSync(program, all, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return run('tshark', ['-r', capture, ...options, ...args]);
};

const faulty =
  '_ws.malformed || _ws.expert.severity == 0x800000 || tcp.checksum.status == 0 || ip.checksum.status == 0 || udp.checksum.status == 0';

/** Protocols that tshark must find in every kind of tunnel. */
const layers: Readonly<Record<string, string>> = {
  gre: 'gre:ip:tcp',
  'gre with everything': 'gre:ip:tcp',
  'gre with Ethernet': 'gre:eth:ethertype:ip:tcp',
  'IPv4 in IP': 'ip:ip:tcp',
  'IPv6 in IP': 'ip:ipv6:tcp',
  vxlan: 'udp:vxlan:eth:ethertype:ip:tcp',
  geneve: 'udp:geneve:eth:ethertype:ip:tcp',
  'l2tpv3 over UDP': 'udp:l2tp',
  'l2tpv3 over IP': 'ip:l2tp',
  gtpu: 'udp:gtp:ip:tcp',
  'gtpu with a PDU session': 'udp:gtp:ip:tcp',
};

/** Opens a connection between hosts inside a tunnel, sends some bytes and closes it. */
const framesOf = (create: (typeof tunnelKinds)[string], isV6: boolean): Uint8Array[] => {
  const lab = new FrameLab();
  lab.keepsFrames = true;
  const inner = (['10.0.0.9', '10.1.0.9'] as const).map((local, side) => {
    const lower = lab.group(side as 0 | 1, {
      hosts: consecutiveHosts(`10.${side}.0.1`, `fd00:${side}::1`, 20, vlanTags({ id: 7 + 0 })),
    });
    const codec = create(side === 0);
    const tunnel = new TunnelSet(lower, codec).add(codec, flowKey(local, side === 0 ? '10.1.0.9' : '10.0.0.9'), 8);
    const hosts = consecutiveHosts(`20.${side}.0.1`, `fd20:${side}::1`, 10);
    const group = lab.group(side as 0 | 1, { sink: tunnel, hosts, hasEthernet: codec.payload === 'ethernet' });
    tunnel.receiver = group;
    return group;
  });
  const [client, server] = inner as [(typeof inner)[0], (typeof inner)[0]];
  let isOver = false;
  server.tcp.listen(80, {
    settings: defaultTcpSettings,
    backlog: 1,
    accept: () => ({ ...silent, onEnd: (c) => server.tcp.close(c) }),
  });
  const onOpen: TcpEvents['onOpen'] = (c) => {
    client.tcp.send(c, new Uint8Array(5000));
    client.tcp.close(c);
  };
  const onClose = () => {
    isOver = true;
  };
  const key = isV6 ? flowKey('fd20:0::4', 'fd20:1::1', 0, 80) : flowKey('20.0.0.4', '20.1.0.1', 0, 80);
  client.tcp.connect(key, { settings: defaultTcpSettings, events: { ...silent, onOpen, onClose }, path: 3 });
  if (!lab.run(10_000_000, () => isOver)) throw new Error('the connection did not end');
  return lab.frames;
};

it.each(Object.entries(tunnelKinds))('tshark reads every frame of a tunnel: %s', (name, create) => {
  const frames = framesOf(create, name === 'IPv6 in IP');
  expect(dissect(frames, '-Y', faulty)).toBe('');
  const protocols = dissect(frames, '-T', 'fields', '-e', 'frame.protocols');
  expect(protocols.split('\n').filter((line) => line.includes(layers[name] as string)).length).toBeGreaterThan(6);
});

it('tshark reads an MPLS label stack', () => {
  const lab = new FrameLab();
  lab.keepsFrames = true;
  const shim = createMpls({ labels: [{ label: 100 }, { label: 200 }] });
  const client = lab.group(0, { hosts: consecutiveHosts('10.0.0.1', 'fd00:0::1', 9), shim });
  lab.group(1, { hosts: consecutiveHosts('10.1.0.1', 'fd00:1::1', 9), shim });
  client.tcp.connect(flowKey('10.0.0.1', '10.1.0.1', 0, 80), { settings: defaultTcpSettings, events: silent, path: 0 });
  lab.run(100_000);
  expect(dissect(lab.frames, '-Y', faulty)).toBe('');
  expect(dissect(lab.frames, '-Y', 'mpls.label == 200 && tcp.flags.syn == 1')).toContain('SYN');
});
