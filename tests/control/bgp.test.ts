import { describe, expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { startBird } from './bird.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const prefixes = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, i) => `10.${128 + ((from + i) >> 8)}.${(from + i) & 255}.0/24`);
const routes = { ipv4Count: 1000, ipv4Start: '10.128.0.0/24', med: 7, asPath: [64_512], communities: ['65000:100'] };
const session = { connectRetrySec: 1, localAddress: '10.99.0.10', peerAddress: '10.99.0.2' };

interface FrrRoutes {
  readonly routes: Record<string, { path: string; metric: number; origin: string; nexthops: { ip: string }[] }[]>;
}

describe('BGP', () => {
  const cable = useCable('test');

  it('announces exactly the generated routes to FRR, learns its routes and withdraws at the end', async () => {
    const frr = await startFrr(
      cable.right,
      ['bgpd'],
      `ip prefix-list own seq 5 permit 203.0.113.0/24
       ip prefix-list own seq 6 permit 198.51.100.0/24
       router bgp 65001
        bgp router-id 10.99.0.2
        no bgp ebgp-requires-policy
        no bgp network import-check
        neighbor 10.99.0.10 remote-as 65000
        neighbor 10.99.0.10 passive
        address-family ipv4 unicast
         neighbor 10.99.0.10 prefix-list own out
         network 203.0.113.0/24
         network 198.51.100.0/24`,
    );
    const job = await startRouters(cable.left, { bgp: [profileOf('bgp', { routes, session })] });
    const table = async () => (await frr.json('show bgp ipv4 unicast json')) as FrrRoutes;
    const learnt = async () =>
      Object.entries((await table()).routes).filter(([, paths]) => paths[0]?.nexthops[0]?.ip === '10.99.0.10');
    await expect.poll(async () => (await learnt()).length).toBe(1000);
    const all = await learnt();
    expect(all.map(([prefix]) => prefix).sort()).toEqual(prefixes(1000).sort());
    for (const [, paths] of all) expect(paths).toMatchObject([{ path: '65000 64512', metric: 7, origin: 'IGP' }]);
    expect(await frr.show('show bgp ipv4 unicast 10.131.231.0/24')).toContain('Community: 65000:100');
    const sent = async () => await frr.show('show bgp ipv4 unicast neighbors 10.99.0.10 advertised-routes');
    await expect.poll(sent).toContain('203.0.113.0/24');
    const totals = await job.stop();
    expect(totals.gauge('control.sessionsUp')).toBe(1);
    expect(totals.counter('control.prefixesSent')).toBe(1000);
    expect(totals.counter('control.prefixesReceived')).toBe(2);
    expect(totals.histogram('control.adjacency').count).toBe(1);
    expect(rowsOf(totals, 'neighbours')).toMatchObject([
      { state: 'established', cells: { neighbour: '10.99.0.2', routesSent: 1000, routesReceived: 2, flaps: 0 } },
    ]);
    expect(
      rowsOf(totals, 'routes').map(({ cells }) => [cells['route'], cells['nextHop'], cells['attributes']]),
    ).toEqual([
      ['198.51.100.0/24', '10.99.0.2', 'origin IGP, path 65001, MED 0'],
      ['203.0.113.0/24', '10.99.0.2', 'origin IGP, path 65001, MED 0'],
    ]);
    await expect.poll(async () => (await learnt()).length).toBe(0);
    expect(await frr.show('show bgp neighbors 10.99.0.10')).toContain('Administrative Shutdown');
  });

  it('runs many sessions with BIRD, IPv6 routes among them, and takes routes away and back', async () => {
    const count = 20;
    cable.right.run('ip', 'addr', 'add', '2001:db8:99::2/64', 'dev', cable.right.device, 'nodad');
    const ours = Array.from({ length: count }, (_, i) => `10.99.0.${10 + i}`);
    const neighbours = ours.map(
      (address, i) => `protocol bgp n${i} { local 10.99.0.2 as 65001; neighbor ${address} as 65000; passive yes;
        ipv4 { import all; export none; add paths rx; extended next hop yes; }; ipv6 { import all; export where source = RTS_STATIC; }; }`,
    );
    const bird = await startBird(
      cable.right,
      `router id 10.99.0.2; protocol static { ipv6; route 2001:db8:ffff::/48 blackhole; }\n${neighbours.join('\n')}`,
    );
    const profile = profileOf('bgp', {
      session,
      capabilities: {
        families: ['ipv4-unicast', 'ipv6-unicast'],
        addPath: 'send',
        extendedMessages: true,
        extendedNextHop: true,
      },
      routes: {
        ipv4Count: 100,
        ipv4Start: '10.128.0.0/24',
        ipv6Count: 50,
        pathsPerPrefix: 3,
        nextHop: '2001:db8:99::10',
      },
      churn: { intervalSec: 2, sharePct: 50, downSec: 2 },
    });
    const job = await startRouters(cable.left, { bgp: [profile] }, count);
    const counts = async () => {
      const lines = (await bird.show('show route count')).match(/^\d+ of .*$/gm) ?? [];
      return lines.map((line) => Number(/^(\d+)/.exec(line)?.[1]));
    };
    // Three paths of 100 prefixes each; 50 IPv6 prefixes and the static one.
    await expect.poll(counts, { interval: 100 }).toEqual([6000, 1001]);
    await expect.poll(counts, { interval: 100 }).toEqual([3000, 501]);
    await expect.poll(counts, { interval: 100 }).toEqual([6000, 1001]);
    const totals = await job.stop();
    expect(totals.counter('control.prefixesReceived')).toBe(count);
    expect(totals.counter('control.flaps')).toBe(0);
  });
});
