import { expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { startFrr } from './frr.ts';
import { packetFrom } from './packet-from.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes, rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');
const querier = { queryIntervalSec: 1, responseMs: 300, lastMemberMs: 200 };

it.each([
  [3, true],
  [2, false],
])('Linux tells a querier of version %i its groups, router alert %s', async (version, routerAlert) => {
  const join = (group: string) =>
    cable.right.run('ip', 'addr', 'add', `${group}/32`, 'dev', cable.right.device, 'autojoin');
  for (const group of ['239.1.2.3', '239.1.2.4']) join(group);
  const job = await startRouters(cable.left, {
    'igmp-querier': [profileOf('igmp-querier', { querier: { ...querier, version, routerAlert } })],
  });
  // The header has 24 bytes with the option, 20 without it, in either case a TTL of 1.
  await packetFrom(cable.right, `src 10.99.0.1 and igmp and ip[0] = ${routerAlert ? 0x46 : 0x45} and ip[8] = 1`);
  const groups = () => listedRoutes(job).map(({ cells }) => `${cells['neighbour']} ${cells['route']}`);
  const expectGroups = (...expected: string[]) =>
    expect.poll(() => groups().sort(), { interval: 500 }).toEqual(expected);
  await expectGroups('10.99.0.2 239.1.2.3', '10.99.0.2 239.1.2.4');
  cable.right.run('ip', 'addr', 'del', '239.1.2.3/32', 'dev', cable.right.device);
  // The group is asked for, and nobody answers.
  await expectGroups('10.99.0.2 239.1.2.4');
  const totals = await job.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([{ state: 'querier', cells: { protocol: 'igmp-querier' } }]);
});

it('a querier and FRR agree who asks', async () => {
  const config = (device: string) =>
    `interface ${device}\n ip igmp\n ip igmp query-max-response-time 3\n ip igmp query-interval 1`;
  const frr = await startFrr(cable.left, ['pimd'], config(cable.left.device));
  const job = await startRouters(cable.right, { 'igmp-querier': [profileOf('igmp-querier', { querier })] });
  // FRR has the lower address.
  for (let i = 0; i < 2; i++) await packetFrom(cable.right, 'src 10.99.0.1 and igmp and dst 224.0.0.1');
  expect(await frr.show('show ip igmp interface')).toMatch(/10\.99\.0\.1\s.*local/);
  const totals = await job.stop();
  expect(rowsOf(totals, 'neighbours')).toMatchObject([{ state: 'silent, 10.99.0.1 asks' }]);
});
