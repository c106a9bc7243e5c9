import { expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { type Frr, startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test', ({ right }) => {
  right.run('ip', 'link', 'set', 'lo', 'up');
  right.run('ip', 'address', 'add', '10.99.1.1/32', 'dev', 'lo');
  // A host of FRR, which takes packets from an address of its own machine.
  right.run('ip', 'link', 'add', 'd0', 'type', 'veth', 'peer', 'name', 'd1');
  right.run('ip', 'address', 'add', '10.99.2.1/24', 'dev', 'd0');
  right.run('ip', 'address', 'add', '10.99.2.2/24', 'dev', 'd1');
  for (const name of ['accept_local=1', 'rp_filter=0']) right.run('sysctl', '-qw', `net.ipv4.conf.d0.${name}`);
  for (const device of ['d0', 'd1']) right.run('ip', 'link', 'set', device, 'up');
});

const configOf = (first: string) => `${first}
  interface lo
   ip pim
  exit
  interface d0
   ip pim
   ip igmp
  exit
  interface ${cable.right.device}
   ip pim
   ip pim hello 1
   ip pim drpriority 5
  exit`;

interface Joined {
  readonly source: string;
  readonly group: string;
  readonly channelJoinName: string;
}

/** Trees that FRR has been asked for on its interface, as `source group`. */
const joinedAt = async (frr: Frr): Promise<string[]> => {
  const all = (await frr.json('show ip pim join json')) as Record<string, Record<string, Record<string, Joined>>>;
  return Object.values(all[cable.right.device] ?? {})
    .flatMap((sources) => (typeof sources === 'object' ? Object.values(sources) : []))
    .filter(({ channelJoinName }) => channelJoinName === 'JOIN')
    .map(({ source, group }) => `${source} ${group}`);
};

const onInterface = async (frr: Frr, command: string) =>
  ((await frr.json(command)) as Record<string, Record<string, unknown>>)[cable.right.device] ?? {};

const slowly = { interval: 200 };

it.each([
  ['shared trees', [], ['*']],
  ['trees of sources', ['10.99.1.1', '10.99.0.2'], ['10.99.0.2', '10.99.1.1']],
])('FRR is joined for %s, elects our router and learns of its end', async (_, sources, seen) => {
  const frr = await startFrr(cable.right, ['pimd'], configOf('ip pim rp 10.99.1.1 224.0.0.0/4'));
  const profile = profileOf('pim', {
    interface: { helloSec: 1, holdSec: 20, drPriority: 9 },
    rendezvous: { address: '10.99.1.1' },
    joins: { groupStart: '239.1.0.1', groupCount: 200, sources, joinPruneSec: 5 },
  });
  const job = await startRouters(cable.left, { pim: [profile] });
  const trees = Array.from({ length: 200 }, (_, i) => seen.map((source) => `${source} 239.1.0.${1 + i}`)).flat();
  await expect.poll(async () => (await joinedAt(frr)).sort(), slowly).toEqual(trees.sort());
  expect(await onInterface(frr, 'show ip pim interface json')).toMatchObject({ pimDesignatedRouter: '10.99.0.1' });
  expect(await onInterface(frr, 'show ip pim neighbor json')).toMatchObject({
    '10.99.0.1': { drPriority: 9, holdTimeMax: 20 },
  });
  const totals = await job.stop();
  const row = { router: '10.99.0.1', neighbour: '10.99.0.2', routesSent: trees.length, flaps: 0 };
  expect(rowsOf(totals, 'neighbours')).toMatchObject([{ state: 'up', cells: row }]);
  expect(totals.gauge('control.sessionsUp')).toBe(1);
  await expect.poll(() => joinedAt(frr), slowly).toEqual([]);
  await expect.poll(() => onInterface(frr, 'show ip pim neighbor json'), slowly).toEqual({});
});

it('FRR answers registers of our router and joins its shared tree', async () => {
  const frr = await startFrr(
    cable.right,
    ['pimd'],
    configOf('ip pim rp 10.99.1.1 239.0.0.0/16\nip pim rp 10.99.0.1 239.5.0.0/16'),
  );
  const profile = profileOf('pim', {
    interface: { helloSec: 1, holdSec: 4 },
    rendezvous: { address: '10.99.1.1' },
    registers: { perSec: 10 },
  });
  const job = await startRouters(cable.left, { pim: [profile] });
  cable.right.run('ip', 'addr', 'add', '239.5.0.1/32', 'dev', 'd1', 'autojoin');
  const stopsSent = async () => (await onInterface(frr, 'show ip pim interface traffic json'))['registerStopTx'];
  await expect.poll(stopsSent, slowly).toBeGreaterThan(0);
  const joinsSent = async () => (await onInterface(frr, 'show ip pim interface traffic json'))['joinTx'];
  await expect.poll(joinsSent, slowly).toBeGreaterThan(0);
  const totals = await job.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([{ state: 'designated router', cells: { routesReceived: 1 } }]);
  expect(rowsOf(totals, 'routes').map(({ cells }) => [cells['route'], cells['attributes']])).toEqual([
    ['(*, 239.5.0.1)', 'shared tree of 10.99.0.1'],
  ]);
});
