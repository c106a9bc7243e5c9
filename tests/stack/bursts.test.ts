import type { HostStack } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { requireProgram } from '../engines/programs.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from './sniffer.ts';

const port = 8080;
const mss = 1200;
/** Ethernet, IP, and TCP with timestamps. */
const largestFrame = { v4: 14 + 20 + 32 + mss - 12, v6: 14 + 40 + 32 + mss - 12 } as const;
const networks = {
  v4: { subnet: '10.99.0.0/24', host: '10.99.0.10', target: '10.99.0.2' },
  v6: { subnet: 'fd99::/64', host: 'fd99::10', target: 'fd99::2' },
} as const;

const hostOn = ({ device }: Side, version: 'v4' | 'v6'): HostStack => {
  const { subnet, host } = networks[version];
  return {
    interface: device,
    networks: [{ subnet, hosts: [host] }],
    vlan: [],
    header: {},
    tcp: { mss },
    path: 'af_xdp',
  };
};

describe('long messages of an emulated host', () => {
  const cable = useCable('test', ({ right }) =>
    right.run('ip', 'addr', 'add', 'fd99::2/64', 'dev', right.device, 'nodad'),
  );

  const send = async (version: 'v4' | 'v6') => {
    const { left, right } = cable;
    const { target } = networks[version];
    const server = await startJobIn(right, {
      engine: 'tcp',
      config: { role: 'server', mode: 'sink', listen: [{ host: target, port }] },
      duration: { mode: 'continuous' },
    });
    const sniffers = [await startSniffer(left), await startSniffer(right)] as const;
    const client = await runJobIn(left, {
      engine: 'tcp',
      config: { role: 'client', mode: 'send', targets: [{ host: target, port }], connections: 1, rateBps: 16e6 },
      duration: { seconds: 2 },
      stack: hostOn(left, version),
    });
    for (const sniffer of sniffers) await sniffer.stop();
    const received = (await server.stop()).counter('tcp.rxBytes');
    const filter = `tcp.dstport==${port} && tcp.len>0`;
    const [near, far] = await Promise.all(sniffers.map((sniffer) => sniffer.fields(filter, ['frame.len', 'ip.id'])));
    return { client, received, near: near ?? [], far: far ?? [] };
  };

  it.each(['v4', 'v6'] as const)('are cut into segments by the kernel before they leave (%s)', async (version) => {
    requireProgram('ethtool');
    // Without `tx` the kernel computes the checksums, and the one at the other end verifies them.
    cable.left.run('ethtool', '-K', cable.left.device, 'tso', 'off', 'gso', 'off', 'tx', 'off');
    const { client, received, near, far } = await send(version);
    const lengths = far.map(([frame]) => Number(frame));
    expect(Math.max(...lengths)).toBe(largestFrame[version]);
    // Captures at this end see what the kernel cuts, and nothing that leaves by AF_XDP alone.
    expect(near.length).toBeGreaterThan(far.length / 2);
    // Every packet has an identification of its own.
    if (version === 'v4') expect(new Set(far.map(([, id]) => id)).size).toBe(far.length);
    expect(received).toBeGreaterThanOrEqual(client.counter('tcp.txBytes'));
    expect(client.counter('tcp.txBytes')).toBeGreaterThan(1_000_000);
    // Frames are counted as they are on the wire.
    expect(client.counter('stack.txFrames')).toBeGreaterThanOrEqual(far.length);
  });

  it('leave in segments where the interface would pass larger packets on as they are', async () => {
    const { client, near, far } = await send('v4');
    expect(near).toEqual([]);
    expect(Math.max(...far.map(([frame]) => Number(frame)))).toBe(largestFrame.v4);
    expect(client.counter('tcp.txBytes')).toBeGreaterThan(1_000_000);
  });
});
