import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');
const v4 = Array.from({ length: 400 }, (_, i) => `10.${128 + (i >> 8)}.${i & 255}.0/24`);
const v6 = Array.from({ length: 100 }, (_, i) => `2001:db8:${(i + 1).toString(16)}::/48`);

const networks = (prefixes: readonly string[]): string =>
  prefixes.map((prefix, i) => `network ${prefix} route-map set${i % 3}`).join('\n');
const config = `${[0, 1, 2]
  .map((i) => `route-map set${i} permit 10\n set metric ${10 + i}\n set community 65001:${i} 65001:99\nexit`)
  .join('\n')}
route-map none deny 10
exit
router bgp 65001
 bgp router-id 10.99.0.2
 no bgp ebgp-requires-policy
 no bgp network import-check
 neighbor 10.99.0.10 remote-as 65000
 neighbor 10.99.0.10 passive
 address-family ipv4 unicast
  neighbor 10.99.0.10 route-map none out
  ${networks(v4)}
 exit-address-family
 address-family ipv6 unicast
  neighbor 10.99.0.10 activate
  neighbor 10.99.0.10 route-map none out
  ${networks(v6)}
 exit-address-family`;

interface Path {
  readonly peerId: string;
  readonly path: string;
  readonly metric: number;
  readonly origin: string;
}
interface Table {
  readonly routes: Record<string, readonly Path[]>;
}

it('routes of a file that FRR has written come back to FRR with their attributes, plain and as gzip', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rushhour-mrt-'));
  chmodSync(folder, 0o777);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const frr = await startFrr(cable.right, ['bgpd'], config);
  const file = join(folder, 'table.mrt');
  const sizeOf = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  await frr.configure(`dump bgp routes-mrt ${file} 1`);
  await expect.poll(sizeOf, { interval: 100 }).toBeGreaterThan(0);
  await frr.configure(`no dump bgp routes-mrt ${file} 1`);
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)));
  const profile = profileOf('bgp', {
    session: { localAddress: '10.99.0.10', peerAddress: '10.99.0.2', connectRetrySec: 1 },
    capabilities: { families: ['ipv4-unicast', 'ipv6-unicast'] },
  });
  const received = async (version: 4 | 6) => {
    const { routes } = (await frr.json(`show bgp ipv${version} unicast json`)) as Table;
    return Object.entries(routes)
      .flatMap(([prefix, paths]) => paths.map((path) => ({ ...path, prefix })))
      .filter(({ peerId }) => peerId === '10.99.0.10')
      .map(({ prefix, path, metric, origin }) => `${prefix} ${path} ${metric} ${origin}`)
      .sort();
  };
  const expected = (prefixes: readonly string[]) =>
    prefixes.map((prefix, i) => `${prefix} 65000 ${10 + (i % 3)} IGP`).sort();
  for (const path of [file, `${file}.gz`]) {
    const job = await startRouters(cable.left, {
      bgp: [{ ...profile, imported: { ...profile.imported, file: path } }],
    });
    await expect.poll(() => received(4), { interval: 200 }).toEqual(expected(v4));
    await expect.poll(() => received(6), { interval: 200 }).toEqual(expected(v6));
    expect(await frr.show(`show bgp ipv4 unicast ${v4[4]}`)).toMatch(
      /from 10\.99\.0\.10[\s\S]*Community: 65001:1 65001:99/,
    );
    expect((await job.stop()).counter('control.prefixesSent')).toBe(v4.length + v6.length);
    await expect.poll(() => received(4), { interval: 200 }).toEqual([]);
  }
});
