import type { HostStack, IpsecSettings, StackTunnel } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { addServerNetwork } from './server-network.ts';
import { startSniffer } from './sniffer.ts';

const cable = useCable('test');
const pathMtu = 1300;
const ends = { client: '10.99.0.11', server: '10.98.0.21' };
const host = '10.50.1.1';

const ipsec: IpsecSettings = {
  ...{ mode: 'tunnel', authMethod: 'psk', psk: 'a long secret', cipher: 'aes256gcm16', encrypts: true, pfs: false },
  ...{ natt: false, dpdIntervalSec: 0, dpdTimeoutSec: 0, rekeySec: 0, lifetimeSec: 0, uniqueSelectors: false },
  ...{ firstIndex: 0, children: 1 },
};

const tunnelled = (side: Side, type: StackTunnel['type'], isServer: boolean): HostStack => {
  const [local, remote] = isServer ? [ends.server, ends.client] : [ends.client, ends.server];
  const outer = isServer
    ? { subnet: '10.98.0.0/24', hosts: [local], gateway: '10.98.0.1' }
    : { subnet: '10.99.0.0/24', hosts: [local], gateway: '10.99.0.2' };
  return {
    interface: side.device,
    networks: [{ subnet: '10.50.0.0/16', hosts: [isServer ? host : '10.50.0.1'] }],
    ...{ vlan: [], header: {}, tcp: {}, path: 'af_packet' },
    tunnel: {
      type,
      params: { df: true },
      ...(type === 'ipsec' && { ipsec }),
      ...{ isServer, outer },
      ends: [{ local, remote }],
    },
  };
};

it.each(['gre', 'vxlan', 'gtpu', 'ipsec'] as const)(
  'connections inside %s go on with packets that a router on the way can forward',
  async (type) => {
    const { left, right: router } = cable;
    const far = addServerNetwork(router);
    router.run('ip', 'route', 'replace', '10.98.0.0/24', 'dev', 'n0', 'mtu', 'lock', `${pathMtu}`);
    const sniffer = await startSniffer(router);
    const server = await startJobIn(far, {
      engine: 'tcp',
      config: { role: 'server', mode: 'sink', listen: [{ host: '0.0.0.0', port: 8080 }] },
      duration: { mode: 'continuous' },
      stack: tunnelled(far, type, true),
    });
    await runJobIn(left, {
      engine: 'tcp',
      config: { role: 'client', mode: 'send', targets: [{ host, port: 8080 }], connections: 1, rateBps: 4_000_000 },
      duration: { mode: 'time', seconds: 3 },
      stack: tunnelled(left, type, false),
    });
    const received = (await server.stop()).counter('tcp.rxBytes');
    await sniffer.stop();
    const refused = await sniffer.fields('icmp.type == 3 && icmp.code == 4', ['frame.number', 'icmp.mtu']);
    expect(refused[0]?.[1]).toBe(`${pathMtu}`);
    const last = Number(refused.at(-1)?.[0]);
    const sent = await sniffer.fields(`ip.src == ${ends.client} && frame.len > 400`, [
      'frame.number',
      'frame.len',
      'ip.flags.mf',
    ]);
    const lengthsOf = (isAfter: boolean) =>
      sent.filter(([number]) => Number(number) > last === isAfter).map(([, length]) => Number(length) - 14);
    expect(Math.max(...lengthsOf(false))).toBeGreaterThan(pathMtu);
    // As large as the path carries, and neither packet is cut.
    expect(Math.max(...lengthsOf(true))).toBeLessThanOrEqual(pathMtu);
    expect(Math.max(...lengthsOf(true))).toBeGreaterThan(pathMtu - 24);
    expect(sent.filter(([, , fragment = '']) => /True|1/.test(fragment))).toEqual([]);
    expect(received).toBeGreaterThan(500_000);
  },
);
