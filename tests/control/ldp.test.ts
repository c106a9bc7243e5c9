import { expect, it } from 'vitest';
import type { JobProcess } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes, rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test', ({ right }) => {
  right.run('ip', 'address', 'add', 'fd99::77/64', 'dev', right.device, 'nodad');
  right.run('ip', 'address', 'add', '10.99.0.77/24', 'dev', right.device);
  right.run('ip', 'link', 'set', 'lo', 'up');
});

interface Bindings {
  readonly bindings?: readonly { prefix: string; neighborId: string; remoteLabel: string }[];
}

const expectedOf = (address: string): string[] => [
  ...Array.from({ length: 300 }, (_, i) => `10.130.${i >> 8}.${i & 255}/32 ${100_000 + i}`),
  `${address}/32 imp-null`,
];

/** Labels that a router has learned while it runs. */
const labelsIn = (job: JobProcess): string[] =>
  listedRoutes(job).map(({ cells }) => `${cells['route']} ${cells['attributes']}`);

// The router with the higher address opens the connection.
it.each([
  ['FRR calls', '10.99.0.9', 'none', ''],
  ['we call and sign', '10.99.0.99', 'md5', ' neighbor 192.0.2.9 password secret'],
] as const)('FRR learns labels and we learn its own: %s', async (_, address, kind, password) => {
  const frr = await startFrr(
    cable.right,
    ['ldpd'],
    `mpls ldp
      router-id 10.99.0.77
     ${password}
      address-family ipv4
       discovery transport-address 10.99.0.77
       discovery hello interval 1
       interface ${cable.right.device}
       exit
      exit-address-family
     exit`,
  );
  const profile = profileOf('ldp', {
    session: { transportAddress: address, lsrId: '192.0.2.9', helloSec: 1, keepaliveSec: 5 },
    bindings: { count: 300 },
    authentication: { kind, key: 'secret' },
  });
  const job = await startRouters(cable.left, { ldp: [profile] });
  const learned = async () => {
    const { bindings = [] } = (await frr.json('show mpls ldp binding json')) as Bindings;
    return bindings
      .filter(({ neighborId }) => neighborId === '192.0.2.9')
      .map(({ prefix, remoteLabel }) => `${prefix} ${remoteLabel}`)
      .sort();
  };
  await expect.poll(learned, { interval: 300 }).toEqual(expectedOf(address).sort());
  // What FRR is connected to has no label of its own.
  await expect.poll(() => labelsIn(job), { interval: 300 }).toEqual(['10.99.0.0/24 label 3']);
  const totals = await job.stop();
  const [row] = rowsOf(totals, 'neighbours');
  expect(row).toMatchObject({ cells: { neighbour: '10.99.0.77', protocol: 'ldp', routesSent: 301 } });
  await expect.poll(learned, { interval: 300 }).toEqual([]);
});

// RFC 7552: hellos from link-local addresses, sessions between global ones.
it.each([
  ['FRR calls', 'fd99::9', []],
  ['we call', 'fd99::99', []],
  ['by targeted hellos, too', 'fd99::99', ['fd99::77']],
])('FRR and our router give each other labels over IPv6: %s', async (_, address, peers) => {
  const frr = await startFrr(
    cable.right,
    ['ldpd'],
    `mpls ldp
      router-id 10.99.0.77
      address-family ipv6
       discovery transport-address fd99::77
       discovery hello interval 1
       discovery targeted-hello accept
       interface ${cable.right.device}
       exit
      exit-address-family
     exit`,
  );
  const profile = profileOf('ldp', {
    session: { transportAddress: address, lsrId: '192.0.2.9', helloSec: 1, keepaliveSec: 5 },
    bindings: { ipv6Count: 300, ipv6Start: '2001:db8:7800::/64' },
    targeted: { peers, helloSec: 1 },
  });
  const job = await startRouters(cable.left, { ldp: [profile] });
  const learned = async () => {
    const { bindings = [] } = (await frr.json('show mpls ldp ipv6 binding json')) as Bindings;
    return bindings
      .filter(({ neighborId }) => neighborId === '192.0.2.9')
      .map(({ prefix, remoteLabel }) => `${prefix} ${remoteLabel}`)
      .sort();
  };
  const prefixes = Array.from({ length: 300 }, (_, i) => (i === 0 ? '' : `:${i.toString(16)}`));
  const expected = prefixes.map((part, i) => `2001:db8:7800${part}::/64 ${100_000 + i}`);
  await expect.poll(learned, { interval: 300 }).toEqual([...expected, `${address}/128 imp-null`].sort());
  await expect.poll(() => labelsIn(job), { interval: 300 }).toEqual(['fd99::/64 label 3']);
  const totals = await job.stop();
  const [row] = rowsOf(totals, 'neighbours');
  expect(row).toMatchObject({ cells: { neighbour: 'fd99::77', protocol: 'ldp', routesSent: 301 } });
  await expect.poll(learned, { interval: 300 }).toEqual([]);
});
