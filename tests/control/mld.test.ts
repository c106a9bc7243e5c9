import { expect, it } from 'vitest';
import { complaints } from '../access/access-results.ts';
import type { Side } from '../engines/namespaces.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes, rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');
const timing = { queryIntervalSec: 1, responseMs: 300, lastMemberMs: 200 };

it.each([
  [2, true],
  [1, true],
] as const)('Linux tells a querier of version %i its groups', async (version, routerAlert) => {
  const { right } = cable;
  const groups = ['ff15::1:2', 'ff15::1:3'];
  for (const group of groups) right.run('ip', 'addr', 'add', `${group}/128`, 'dev', right.device, 'autojoin');
  const sniffer = await startSniffer(right);
  const job = await startRouters(cable.left, {
    'mld-querier': [profileOf('mld-querier', { querier: { ...timing, version, routerAlert } })],
  });
  const heard = () =>
    listedRoutes(job).flatMap(({ cells }) => (/^ff15:/.test(String(cells['route'])) ? [cells['route']] : []));
  await expect.poll(() => heard().sort(), { interval: 500 }).toEqual(groups);
  right.run('ip', 'addr', 'del', `${groups[0]}/128`, 'dev', right.device);
  await expect.poll(heard, { interval: 500 }).toEqual([groups[1]]);
  const totals = await job.stop();
  await sniffer.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([{ state: 'querier', cells: { protocol: 'mld-querier' } }]);
  expect(await complaints(sniffer, 'icmpv6.type == 130')).toEqual([]);
});

/** A bridge of the kernel that asks for groups and keeps a table of them. */
const startBridge = ({ run, device }: Side, version: number): void => {
  run('ip', 'link', 'add', 'br0', 'type', 'bridge', 'mcast_snooping', '1', 'mcast_query_interval', '100');
  run(
    'ip',
    'link',
    'set',
    'br0',
    'type',
    'bridge',
    'mcast_mld_version',
    `${version}`,
    'mcast_query_response_interval',
    '50',
  );
  run('ip', 'link', 'set', device, 'master', 'br0');
  run('ip', 'link', 'set', 'br0', 'up');
  run('ip', 'link', 'set', 'br0', 'type', 'bridge', 'mcast_querier', '1');
};

interface Entry {
  readonly grp: string;
  readonly port: string;
  readonly source_list?: readonly { readonly address: string }[];
}

/** Groups that a bridge has learned behind our interface, with their sources. */
const learned = ({ run, device }: Side): string[] => {
  const [{ mdb }] = JSON.parse(run('bridge', '-j', '-d', 'mdb', 'show')) as [{ mdb: readonly Entry[] }];
  return mdb
    .filter(({ grp, port }) => port === device && grp.startsWith('ff35:'))
    .map(({ grp, source_list = [] }) => [grp, ...source_list.map(({ address }) => address)].join(' '))
    .sort();
};

it('a bridge of Linux learns the groups of our hosts of version 1, asks for them and forgets those they leave', async () => {
  startBridge(cable.right, 1);
  const sniffer = await startSniffer(cable.right);
  const host = profileOf('mld', { host: { version: 1, groupCount: 6 }, join: { groupsPerHost: 2 } });
  const job = await startRouters(cable.left, { mld: [host] });
  const table = () => learned(cable.right);
  await expect.poll(table, { interval: 300 }).toEqual(['ff35::8000:1', 'ff35::8000:2']);
  job.command({ action: 'leave', values: ['ff35::8000:1'] });
  await expect.poll(table, { interval: 300 }).toEqual(['ff35::8000:2']);
  const totals = await job.stop();
  await sniffer.stop();
  expect(totals.counter('control.tx.mld')).toBeGreaterThanOrEqual(3);
  expect(totals.counter('control.rx.mld')).toBeGreaterThan(0);
  expect(await complaints(sniffer, 'icmpv6.type >= 130 && icmpv6.type <= 132')).toEqual([]);
});

it('a bridge of Linux learns groups and sources of our hosts of version 2', async () => {
  startBridge(cable.right, 2);
  const sniffer = await startSniffer(cable.right);
  const sources = ['2001:db8::1', '2001:db8::2'];
  const hosts = [
    profileOf('mld', { host: { groupCount: 3, filter: 'include', sources } }),
    profileOf('mld', { host: { groupStart: 'ff35::9000:1' } }),
  ];
  const job = await startRouters(cable.left, { mld: hosts });
  await expect
    .poll(() => learned(cable.right), { interval: 300 })
    .toEqual(expect.arrayContaining([expect.stringMatching(/^ff35::8000:1/), 'ff35::9000:1']));
  const all = learned(cable.right).join(' ');
  for (const source of sources) expect(all).toContain(source);
  const totals = await job.stop();
  await sniffer.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([{ state: 'member of 1' }, { state: 'member of 1' }]);
  expect(await complaints(sniffer, 'icmpv6.type == 143 || icmpv6.type == 130')).toEqual([]);
});

it('a bridge of Linux learns the groups of our hosts of IGMP', async () => {
  const { right } = cable;
  right.run('ip', 'link', 'add', 'br0', 'type', 'bridge', 'mcast_snooping', '1', 'mcast_igmp_version', '3');
  right.run('ip', 'link', 'set', right.device, 'master', 'br0');
  right.run('ip', 'link', 'set', 'br0', 'type', 'bridge', 'mcast_querier', '1');
  right.run('ip', 'link', 'set', 'br0', 'up');
  const job = await startRouters(cable.left, { igmp: [profileOf('igmp', { host: { groupStart: '239.7.0.1' } })] });
  const table = () => right.run('bridge', 'mdb', 'show').match(/239\.7\.0\.\d+/g) ?? [];
  await expect.poll(table, { interval: 300 }).toEqual(['239.7.0.1']);
  await job.stop();
  await expect.poll(table, { interval: 300 }).toEqual([]);
});
