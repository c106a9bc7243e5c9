import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { linkLocalOf } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startBird } from './bird.ts';
import { startFrr } from './frr.ts';
import { packetFrom } from './packet-from.ts';
import { profileOf } from './profiles.ts';
import { rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');

it('BFD comes up with FRR at its pace and takes BGP down with it', async () => {
  const frr = await startFrr(
    cable.right,
    ['bfdd', 'bgpd'],
    `router bgp 65001
      bgp router-id 10.99.0.2
      no bgp ebgp-requires-policy
      neighbor 10.99.0.10 remote-as 65000
      neighbor 10.99.0.10 passive
      neighbor 10.99.0.10 bfd 3 100 100`,
  );
  const session = { localAddress: '10.99.0.10', peerAddress: '10.99.0.2' };
  const job = await startRouters(cable.left, {
    bfd: [
      profileOf('bfd', {
        session: { ...session, txMs: 100, rxMs: 100 },
        flaps: { intervalSec: 6, downSec: 2, count: 1 },
      }),
    ],
    bgp: [profileOf('bgp', { session: { ...session, connectRetrySec: 1, bfd: true } })],
  });
  const peers = async () =>
    (await frr.json('show bfd peers json')) as { status: string; 'remote-transmit-interval': number }[];
  await expect.poll(async () => (await peers())[0]).toMatchObject({ status: 'up', 'remote-transmit-interval': 100 });
  await expect.poll(() => frr.show('show bgp neighbors 10.99.0.10')).toContain('BGP state = Established');
  // The flap of the profile.
  await expect.poll(async () => (await peers())[0]?.status, { interval: 100 }).toBe('down');
  await expect.poll(async () => (await peers())[0]?.status, { interval: 100 }).toBe('up');
  await expect.poll(() => frr.show('show bgp neighbors 10.99.0.10')).toContain('BGP state = Established');
  // Both ends have seen it.
  await sleep(1000);
  const totals = await job.stop();
  expect(totals.gauge('control.sessionsUp')).toBe(2);
  expect(totals.counter('control.flaps')).toBeGreaterThanOrEqual(2);
});

it.each([
  [
    'ospf',
    'ospfd',
    (device: string) => `interface ${device}
      ip ospf area 0
      ip ospf hello-interval 1
      ip ospf dead-interval 600
      ip ospf network point-to-point
      ip ospf bfd
     router ospf
      ospf router-id 10.99.0.2`,
    profileOf('ospf', { instance: { routerId: '192.0.2.1' }, interface: { helloSec: 1, deadSec: 600, bfd: true } }),
  ],
  [
    'isis',
    'isisd',
    (device: string) => `interface ${device}
      ip router isis test
      isis network point-to-point
      isis hello-multiplier 100
      isis bfd
     router isis test
      net 49.0001.0000.0000.0002.00`,
    profileOf('isis', { interface: { helloSec: 1, holdMultiplier: 100, bfd: true } }),
  ],
] as const)('BFD ends the adjacency of %s long before its timer', async (protocol, daemon, configOf, profile) => {
  const frr = await startFrr(cable.right, ['bfdd', daemon], configOf(cable.right.device));
  const session = { localAddress: '10.99.0.10', peerAddress: '10.99.0.2' };
  const job = await startRouters(cable.left, { bfd: [profileOf('bfd', { session })], [protocol]: [profile] });
  const show = protocol === 'ospf' ? 'show ip ospf neighbor' : 'show isis neighbor';
  await expect.poll(() => frr.show(show), { timeout: 60_000 }).toMatch(/Full|Up/);
  await expect.poll(() => frr.show('show bfd peers'), { timeout: 60_000 }).toContain('Status: up');
  // Nothing of IP comes from FRR any more; of IS-IS everything.
  cable.right.run('nft', 'add table ip lost');
  cable.right.run('nft', 'add chain ip lost out { type filter hook output priority 0; policy drop; }');
  await packetFrom(cable.right, 'src 10.99.0.10 and udp port 3784 and udp[9] & 0xc0 = 0x40');
  const totals = await job.stop();
  const rows = rowsOf(totals, 'neighbours');
  expect(rows.find(({ cells }) => cells['protocol'] === 'bfd')).toMatchObject({ state: 'down' });
  expect(rows.find(({ cells }) => cells['protocol'] === protocol)).toMatchObject({
    cells: { flaps: 1, lastError: 'BFD session down' },
  });
});

it('BFD between link-local addresses ends the adjacency of OSPF version 3', async () => {
  const frr = await startFrr(
    cable.right,
    ['bfdd', 'ospf6d'],
    `interface ${cable.right.device}
      ipv6 ospf6 area 0.0.0.0
      ipv6 ospf6 hello-interval 1
      ipv6 ospf6 dead-interval 600
      ipv6 ospf6 network point-to-point
      ipv6 ospf6 bfd
     router ospf6
      ospf6 router-id 10.99.0.2`,
  );
  const session = { localAddress: '10.99.0.10', peerAddress: linkLocalOf(cable.right) };
  const instance = { version: 3, routerId: '192.0.2.1' };
  const job = await startRouters(cable.left, {
    bfd: [profileOf('bfd', { session })],
    ospf: [profileOf('ospf', { instance, interface: { helloSec: 1, deadSec: 600, bfd: true } })],
  });
  await expect.poll(() => frr.show('show ipv6 ospf6 neighbor'), { timeout: 60_000 }).toMatch(/Full/);
  await expect
    .poll(() => frr.show('show bfd peers'), { timeout: 60_000 })
    .toMatch(/peer fe80::a63:a [\s\S]*Status: up/);
  cable.right.run('nft', 'add table ip6 lost');
  cable.right.run('nft', 'add chain ip6 lost out { type filter hook output priority 0; policy drop; }');
  // The state of the session follows the headers of IPv6 and UDP and one byte.
  await packetFrom(cable.right, 'ip6 src fe80::a63:a and udp dst port 3784 and ip6[49] & 0xc0 = 0x40');
  const rows = rowsOf(await job.stop(), 'neighbours');
  expect(rows.find(({ cells }) => cells['protocol'] === 'bfd')).toMatchObject({ state: 'down' });
  expect(rows.find(({ cells }) => cells['protocol'] === 'ospf')).toMatchObject({
    cells: { flaps: 1, lastError: 'BFD session down' },
  });
});

it.each([
  ['simple', 'simple'],
  ['meticulous-md5', 'meticulous keyed md5'],
  ['sha1', 'keyed sha1'],
] as const)('BFD comes up with BIRD with authentication by %s, and not with another key', async (kind, name) => {
  const bird = await startBird(
    cable.right,
    `router id 10.99.0.2;
     protocol bfd {
       interface "${cable.right.device}" {
         min rx interval 100 ms; min tx interval 100 ms;
         authentication ${name}; password "secret" { id 7; };
       };
       neighbor 10.99.0.10 dev "${cable.right.device}";
       neighbor 10.99.0.11 dev "${cable.right.device}";
     }`,
  );
  const [right, wrong] = ['secret', 'public'].map((key, i) =>
    profileOf('bfd', {
      session: { localAddress: `10.99.0.1${i}`, peerAddress: '10.99.0.2', txMs: 100, rxMs: 100 },
      authentication: { kind, key, keyId: 7 },
    }),
  );
  const job = await startRouters(cable.left, { bfd: [right, wrong] }, 2);
  const sessions = () => bird.show('show bfd sessions');
  await expect.poll(sessions, { timeout: 60_000 }).toMatch(/10\.99\.0\.10\s+\S+\s+Up/);
  await sleep(1500);
  expect(await sessions()).toMatch(/10\.99\.0\.11\s+\S+\s+Down/);
  const totals = await job.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([
    { state: 'up', cells: { flaps: 0 } },
    { state: 'down', cells: { lastError: 'packets are signed with another key' } },
  ]);
});
