import type { RowsRecord } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import type { JobProcess } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startGobgp } from './gobgp.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes, rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test', ({ right }) => {
  right.run('ip', 'link', 'set', 'lo', 'up');
});

/** All errors that neighbours had while a job ran. */
const errorsOf = ({ summaries }: JobProcess): unknown[] =>
  summaries
    .flatMap(({ records = [] }) => records as RowsRecord[])
    .flatMap(({ rows = [] }) => rows.map(({ cells }) => cells['lastError']));

type Attribute = { readonly type: number } & Readonly<Record<string, unknown>>;

it('GoBGP holds exactly what we announce, attribute by attribute, and we what it announces and withdraws', async () => {
  const gobgp = await startGobgp(cable.right, [{ address: '10.99.0.10', as: 65_000 }]);
  await gobgp('global', 'rib', 'add', '203.0.113.0/24', 'nexthop', '10.99.0.2', 'community', '65001:7');
  const job = await startRouters(cable.left, {
    bgp: [
      profileOf('bgp', {
        session: { connectRetrySec: 1, localAddress: '10.99.0.10', peerAddress: '10.99.0.2' },
        routes: {
          ipv4Count: 300,
          ipv4Start: '10.128.0.0/24',
          med: 7,
          asPath: [64_512],
          communities: ['65000:100', '65000:200'],
        },
      }),
    ],
  });
  const table = async () => {
    const all = JSON.parse(await gobgp('global', 'rib', '-j')) as Record<string, { attrs: Attribute[] }[]>;
    return Object.entries(all).filter(([prefix]) => prefix.startsWith('10.'));
  };
  await expect.poll(async () => (await table()).length).toBe(300);
  const expected = Array.from({ length: 300 }, (_, i) => `10.${128 + (i >> 8)}.${i & 255}.0/24`);
  const learned = await table();
  expect(learned.map(([prefix]) => prefix).sort()).toEqual(expected.sort());
  for (const [, [path]] of learned)
    expect(path?.attrs).toEqual([
      expect.objectContaining({ type: 1, value: 0 }),
      expect.objectContaining({ type: 2, as_paths: [expect.objectContaining({ asns: [65_000, 64_512] })] }),
      expect.objectContaining({ type: 3, nexthop: '10.99.0.10' }),
      expect.objectContaining({ type: 4, metric: 7 }),
      expect.objectContaining({
        type: 8,
        communities: [(65_000 << 16) + 100, (65_000 << 16) + 200].map((n) => n >>> 0),
      }),
    ]);
  const own = () =>
    listedRoutes(job).map(({ cells }) => `${cells['route']} ${cells['nextHop']} ${cells['attributes']}`);
  await expect
    .poll(own, { interval: 500 })
    .toEqual([expect.stringMatching(/^203\.0\.113\.0\/24 10\.99\.0\.2 .*path 65001/)]);
  await gobgp('global', 'rib', 'del', '203.0.113.0/24');
  await expect.poll(own, { interval: 500 }).toEqual([]);
  await gobgp('neighbor', '10.99.0.10', 'reset');
  const neighbour = () => rowsOf(job, 'neighbours')[0];
  await expect.poll(() => neighbour()?.cells['flaps'], { interval: 500 }).toBe(1);
  await expect.poll(() => neighbour()?.state, { interval: 500 }).toBe('established');
  await expect.poll(async () => (await table()).length).toBe(300);
  // The connections that GoBGP refuses for a while come after its notification.
  expect(errorsOf(job)).toContainEqual(expect.stringMatching(/administrative reset/i));
  await job.stop();
  await expect.poll(async () => (await table()).length).toBe(0);
});
