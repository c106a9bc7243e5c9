import type { HostStack, IpsecSettings, RowsRecord } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import type { Totals } from '../engines/job.ts';
import { runJobIn, type Side, startJobIn } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { type Sniffer, startSniffer } from './sniffer.ts';

/** Addresses outside tunnels. */
const outer = {
  4: {
    subnet: '10.99.0.0/24',
    ends: [
      { client: '10.99.0.11', server: '10.99.0.21' },
      { client: '10.99.0.12', server: '10.99.0.22' },
    ],
  },
  6: {
    subnet: 'fd99::/64',
    ends: [
      { client: 'fd99::11', server: 'fd99::21' },
      { client: 'fd99::12', server: 'fd99::22' },
    ],
  },
} as const;

/** Hosts inside them. */
const inner = {
  4: { subnet: '10.50.0.0/16', clients: '10.50.0.1-10.50.0.8', server: '10.50.1.1', any: '0.0.0.0' },
  6: { subnet: 'fd50::/64', clients: 'fd50::1-fd50::8', server: 'fd50::101', any: '::' },
} as const;

interface Versions {
  readonly outside: 4 | 6;
  readonly inside: 4 | 6;
}

const settings: IpsecSettings = {
  mode: 'tunnel',
  authMethod: 'psk',
  psk: 'a long secret',
  cipher: 'aes256gcm16',
  encrypts: true,
  pfs: false,
  natt: false,
  dpdIntervalSec: 30,
  dpdTimeoutSec: 150,
  rekeySec: 0,
  lifetimeSec: 0,
  uniqueSelectors: false,
  firstIndex: 0,
  children: 1,
};

const stackOf = (side: Side, ipsec: object, isServer: boolean, { outside, inside }: Versions): HostStack => {
  const { subnet, ends } = outer[outside];
  const hosts = isServer ? inner[inside].server : inner[inside].clients;
  const local = ends.map(({ client, server }) => (isServer ? server : client));
  const remote = ends.map(({ client, server }) => (isServer ? client : server));
  const isTransport = (ipsec as IpsecSettings).mode === 'transport';
  return {
    interface: side.device,
    networks: isTransport ? [{ subnet, hosts: local }] : [{ subnet: inner[inside].subnet, hosts: [hosts] }],
    vlan: [],
    header: {},
    tcp: {},
    path: 'af_packet',
    tunnel: {
      type: 'ipsec',
      params: {},
      ipsec: { ...settings, ...ipsec },
      isServer,
      ends: local.map((address, index) => ({ local: address, remote: remote[index] as string })),
      outer: { subnet, hosts: local },
    },
  };
};

/** Keys that a job has reported. */
const keysOf = ({ summaries }: Totals) => {
  const records = summaries.flatMap((summary) => (summary.records ?? []) as Partial<RowsRecord>[]);
  const rows = records.flatMap(({ table, rows: reported = [] }) => (table === 'keys' ? reported : []));
  const linesOf = (kind: string) => rows.flatMap(({ state, cells }) => (state === kind ? [String(cells['line'])] : []));
  return { ike: linesOf('ike'), esp: linesOf('esp') };
};

/** tshark reads IKE and what is inside ESP, and finds nothing wrong in it. */
const expectDecrypted = async (sniffer: Sniffer, { hasIke }: { readonly hasIke: boolean }) => {
  const names = [
    'esp.spi',
    'tcp.port',
    'http.request.method',
    'isakmp.id.type',
    '_ws.malformed',
    '_ws.expert.severity',
  ];
  const packets = await sniffer.fields('esp || isakmp', names);
  const having = (name: string) => packets.filter((values) => (values[names.indexOf(name)] ?? '') !== '');
  expect(having('esp.spi').length).toBe(having('tcp.port').length);
  expect(having('http.request.method').length).toBeGreaterThan(50);
  expect(having('isakmp.id.type').length).toBeGreaterThanOrEqual(hasIke ? 2 : 0);
  expect(having('_ws.malformed')).toEqual([]);
  const error = String(0x800000);
  expect(having('_ws.expert.severity').filter((values) => values.at(-1)?.split(',').includes(error))).toEqual([]);
};

describe('IPsec of emulated hosts', () => {
  const cable = useCable('test');

  const run = async (ipsec: object, count = 200, versions: Versions = { outside: 4, inside: 4 }) => {
    const { server: host, any } = inner[versions.inside];
    const isTransport = 'mode' in ipsec && ipsec.mode === 'transport';
    const server = await startJobIn(cable.right, {
      engine: 'http',
      config: {
        role: 'server',
        listen: [{ host: any, port: 8080 }],
        responses: [{ body: { type: 'zero', size: 20_000 } }],
      },
      duration: { mode: 'continuous' },
      stack: stackOf(cable.right, ipsec, true, versions),
    });
    const client = await runJobIn(cable.left, {
      engine: 'http',
      config: {
        role: 'client',
        targets: [{ host: isTransport ? '10.99.0.21' : host, port: 8080 }],
        connections: 8,
        ...(isTransport && { sources: { addresses: ['10.99.0.11'] } }),
      },
      duration: { mode: 'count', count },
      stack: stackOf(cable.left, ipsec, false, versions),
      writesKeys: true,
    });
    const served = await server.stop();
    return { client, served };
  };

  it.each([
    ['a pre-shared key', {}, 'esp'],
    ['ESP in UDP', { natt: true, cipher: 'aes128-sha256' }, 'udp.port == 4500 && esp'],
    ['several child SAs', { children: 3, pfs: true, cipher: 'chacha20poly1305' }, 'esp'],
    ['manual keys', { authMethod: 'manual', spi: 4096, encryptionKey: `0x${'11'.repeat(36)}` }, 'esp'],
    ['integrity only', { encrypts: false, cipher: 'aes256-sha512' }, 'esp'],
    ['transport mode', { mode: 'transport' }, 'esp'],
  ])('carries requests with %s', async (_, ipsec, filter) => {
    const sniffer = await startSniffer(cable.right);
    const { client, served } = await run(ipsec);
    await sniffer.stop();
    expect(client.counter('http.ok')).toBe(200);
    expect(served.counter('http.served')).toBe(200);
    const packets = await sniffer.fields(filter, ['ip.src', 'frame.len']);
    expect(packets.length).toBeGreaterThan(200);
    expect(Math.max(...packets.map(([, length]) => Number(length)))).toBeLessThanOrEqual(1514);
    expect(await sniffer.fields('tcp', ['frame.number'])).toEqual([]);
    expect(await sniffer.fields('_ws.malformed', ['frame.number'])).toEqual([]);
    sniffer.useKeys(keysOf(client));
    // The tshark of Debian has no ChaCha20-Poly1305.
    if (!('children' in ipsec)) await expectDecrypted(sniffer, { hasIke: !('authMethod' in ipsec) });
  });

  it.each<[string, Versions]>([
    ['outside', { outside: 6, inside: 4 }],
    ['inside', { outside: 4, inside: 6 }],
  ])('carries requests with IPv6 %s', async (_, versions) => {
    const sniffer = await startSniffer(cable.right);
    const { client, served } = await run({}, 200, versions);
    await sniffer.stop();
    expect(client.counter('http.ok')).toBe(200);
    expect(served.counter('http.served')).toBe(200);
    const packets = await sniffer.fields('esp', [versions.outside === 6 ? 'ipv6.src' : 'ip.src', 'frame.len']);
    expect(packets.length).toBeGreaterThan(200);
    expect(packets.filter(([source]) => source === '')).toEqual([]);
    expect(Math.max(...packets.map(([, length]) => Number(length)))).toBeLessThanOrEqual(1514);
    sniffer.useKeys(keysOf(client));
    await expectDecrypted(sniffer, { hasIke: true });
  });

  it('renews keys in the middle of a transfer without a lost byte', async () => {
    const { client, served } = await run({ rekeySec: 0.3 }, 4000);
    expect(client.counter('http.ok')).toBe(4000);
    expect(served.counter('http.served')).toBe(4000);
  });
});
