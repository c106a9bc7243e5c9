import { describe, expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { type Frr, startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { startRouters } from './routers.ts';

const bgp = profileOf('bgp', {
  session: { localAddress: '10.99.0.10', peerAddress: '10.99.0.2', connectRetrySec: 1 },
  capabilities: { families: ['l2vpn-evpn'] },
});

const config = `router bgp 65001
  bgp router-id 10.99.0.2
  no bgp ebgp-requires-policy
  no bgp default ipv4-unicast
  neighbor 10.99.0.10 remote-as 65000
  neighbor 10.99.0.10 passive
  neighbor 10.99.0.11 remote-as 65000
  neighbor 10.99.0.11 passive
  address-family l2vpn evpn
   neighbor 10.99.0.10 activate
   neighbor 10.99.0.11 activate`;

interface EvpnPath {
  readonly peerId: string;
  readonly path: string;
  readonly esi?: string;
  readonly extendedCommunity: { readonly string: string };
  readonly nexthops: readonly { readonly ip: string }[];
}

/** Every route of FRR's table in a line: distinguisher, route, next hop, communities and segment. */
const routesOf = async (frr: Frr): Promise<string[]> => {
  const table = (await frr.json('show bgp l2vpn evpn json')) as Record<string, Record<string, { paths?: EvpnPath[] }>>;
  return Object.entries(table).flatMap(([distinguisher, routes]) =>
    Object.entries(typeof routes === 'object' ? routes : {}).flatMap(([route, { paths = [] }]) =>
      paths.map(({ nexthops, extendedCommunity, esi = '' }) =>
        [distinguisher, route, nexthops[0]?.ip, extendedCommunity.string, esi].join(' ').trim(),
      ),
    ),
  );
};

const esi = '00:11:22:33:44:55:66:77:88:99';
const hostName = (host: number): string => `[48]:[02:00:5e:10:00:${(1 + host).toString(16).padStart(2, '0')}]`;

/** What a router with two instances of three hosts announces, as FRR writes it. */
const expectedOf = (address: string, lastByte: string): string[] => [
  `${address}:0 [1]:[4294967295]:[${esi}]:[32]:[0.0.0.0]:[0] ${address} RT:65000:5001 RT:65000:5002 ET:8 ESI-label-Rt:AA`,
  `${address}:0 [4]:[${esi}]:[32]:[${address}] ${address} ES-Import-Rt:11:22:33:44:55:66`,
  ...[0, 1].flatMap((i) => {
    const [head, tail] = [`${address}:${1 + i}`, `${address} RT:65000:${5001 + i} ET:8`];
    return [
      `${head} [1]:[0]:[${esi}]:[32]:[0.0.0.0]:[0] ${tail}`,
      ...[0, 1, 2].map((n) => `${head} [2]:[0]:${hostName(3 * i + n)}:[32]:[10.200.0.${1 + n}] ${tail} ${esi}`),
      `${head} [3]:[0]:[32]:[${address}] ${tail}`,
      `${head} [5]:[0]:[16]:[10.200.0.0] ${tail} Rmac:02:00:0a:63:00:${lastByte}`,
    ];
  }),
];

describe('EVPN', () => {
  const cable = useCable('test');

  it('routes of all types are in the table of FRR, and no others', async () => {
    const frr = await startFrr(cable.right, ['bgpd'], config);
    const evpn = profileOf('evpn', {
      instance: { count: 2, routeTypes: ['1', '2', '3', '4', '5'], idStart: 5001 },
      segment: { identifier: esi },
      hosts: { perInstance: 3 },
    });
    const job = await startRouters(cable.left, { bgp: [bgp], evpn: [evpn] }, 2);
    const expected = [...expectedOf('10.99.0.10', '0a'), ...expectedOf('10.99.0.11', '0b')];
    await expect.poll(() => routesOf(frr), { interval: 200 }).toHaveLength(expected.length);
    expect((await routesOf(frr)).sort()).toEqual(expected.sort());
    const details = await frr.show('show bgp l2vpn evpn route detail');
    expect(details.match(/\[2\]:.*VNI 5002/g)).toHaveLength(6);
    const totals = await job.stop();
    expect(totals.counter('control.prefixesSent')).toBe(expected.length);
    await expect.poll(() => routesOf(frr), { interval: 200 }).toEqual([]);
  });

  it('hosts move from router to router, and a new session says where they are', async () => {
    const frr = await startFrr(cable.right, ['bgpd'], config);
    const evpn = profileOf('evpn', { hosts: { perInstance: 2, moveSec: 2, withIpv4: false } });
    const job = await startRouters(cable.left, { bgp: [bgp], evpn: [evpn] }, 2);
    const hostsOf = async () =>
      (await routesOf(frr))
        .filter((line) => line.includes(' [2]:'))
        .map((line) => line.replace(/RT:\S+ ET:8 ?/, '').replace(/MM:\d*[13579]$/, 'MM:odd'));
    // The hosts of both routers have changed places one by one.
    const moved = [
      `10.99.0.10:1 [2]:[0]:${hostName(2)} 10.99.0.10 MM:odd`,
      `10.99.0.10:1 [2]:[0]:${hostName(3)} 10.99.0.10 MM:odd`,
      `10.99.0.11:1 [2]:[0]:${hostName(0)} 10.99.0.11 MM:odd`,
      `10.99.0.11:1 [2]:[0]:${hostName(1)} 10.99.0.11 MM:odd`,
    ];
    await expect.poll(hostsOf, { interval: 100 }).toEqual(moved);
    await frr.show('clear bgp l2vpn evpn *');
    // Each host is at one place, and its route says that it has moved.
    const named = async () => (await hostsOf()).map((line) => / (\S+) \S+ MM:/.exec(line)?.[1]).sort();
    await expect.poll(named, { interval: 100 }).toEqual([0, 1, 2, 3].map((n) => `[2]:[0]:${hostName(n)}`));
    await job.stop();
  });
});
