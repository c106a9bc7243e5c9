import { expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes, rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');

/** Routes that FRR has learned by RIP and can reach: prefix, next hop, metric. */
const learnedOf = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line) => /^R\(n\)\s+(\S+)\s+(\S+)\s+(\d+)/.exec(line)?.slice(1).join(' ') ?? [])
    .filter((route) => !route.endsWith(' 16'))
    .sort();

const expectedOf = (count: number, metric: number): string[] =>
  Array.from({ length: count }, (_, i) => `10.112.${i}.0/24 10.99.0.1 ${metric}`).sort();

it.each([
  ['version 2 with MD5', '2', 'version 2', 'md5'],
  ['version 2 with a password', '2', 'version 2', 'simple'],
  ['version 1', '1', 'version 1', 'none'],
] as const)('FRR learns the routes of RIP %s, and we learn its own', async (_, version, line, kind) => {
  const mode = { md5: 'md5', simple: 'text', none: '' }[kind];
  const keys = kind === 'none' ? '' : `ip rip authentication mode ${mode}\n ip rip authentication string secret`;
  const frr = await startFrr(
    cable.right,
    ['ripd'],
    `interface ${cable.right.device}
      ${keys}
     exit
     router rip
      ${line}
      timers basic 5 15 10
      network ${cable.right.device}
      route 10.50.0.0/24
      route 10.51.0.0/24`,
  );
  const job = await startRouters(cable.left, {
    rip: [
      profileOf('rip', {
        instance: { version, updateSec: 2, timeoutSec: 20, garbageSec: 5 },
        routes: { ipv4Count: 60, metric: 3, tag: version === '1' ? 0 : 9 },
        authentication: { kind, keyId: 1, key: 'secret' },
      }),
    ],
  });
  const learned = async () => learnedOf(await frr.show('show ip rip'));
  await expect.poll(learned, { interval: 500 }).toEqual(expectedOf(60, 4));
  const own = () => listedRoutes(job).map(({ cells }) => cells['route']);
  await expect.poll(() => own().sort(), { interval: 500 }).toEqual(['10.50.0.0/24', '10.51.0.0/24']);
  const totals = await job.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([
    { state: 'up', cells: { neighbour: '10.99.0.2', protocol: 'rip' } },
  ]);
  // The end of the run withdraws everything.
  await expect.poll(learned, { interval: 500 }).toEqual([]);
});

it('FRR learns the routes of RIPng, and we learn its own', async () => {
  const frr = await startFrr(
    cable.right,
    ['ripngd'],
    `router ripng
      timers basic 5 15 10
      network ${cable.right.device}
      route 2001:db8:50::/64
      route 2001:db8:51::/48`,
  );
  const job = await startRouters(cable.left, {
    rip: [
      profileOf('rip', {
        instance: { version: 'ng', updateSec: 2, timeoutSec: 20, garbageSec: 5 },
        routes: { ipv6Count: 200, metric: 3, tag: 9 },
      }),
    ],
  });
  const learned = async () => {
    const text = await frr.show('show ipv6 ripng');
    // The next hop, metric and tag are on the second line.
    const all = [...text.matchAll(/^R\(n\)\s+(\S+)\s+(\S+)\s+\S+\s+(\d+)\s+(\d+)/gm)];
    return all
      .map(([, ...parts]) => parts.join(' '))
      .filter((route) => !/ 16 \d+$/.test(route))
      .sort();
  };
  const expected = Array.from({ length: 200 }, (_, i) =>
    `2001:db8:7000:${i === 0 ? '' : i.toString(16)}::/64`.replace(':::', '::'),
  );
  await expect.poll(learned, { interval: 500 }).toEqual(expected.map((prefix) => `${prefix} fe80::a63:1 4 9`).sort());
  const own = () => listedRoutes(job).map(({ cells }) => `${cells['route']} ${cells['attributes']}`);
  await expect
    .poll(() => own().sort(), { interval: 500 })
    .toEqual(['2001:db8:50::/64 metric 2, tag 0', '2001:db8:51::/48 metric 2, tag 0']);
  const totals = await job.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([{ state: 'up', cells: { protocol: 'rip' } }]);
  await expect.poll(learned, { interval: 500 }).toEqual([]);
});
