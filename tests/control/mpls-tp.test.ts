import { expect, it } from 'vitest';
import { complaints } from '../access/access-results.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');

const pathsOf = (
  sourceNode: string,
  destinationNode: string,
  labels: { labelInStart: number; labelOutStart: number },
) =>
  profileOf('mpls-tp', {
    path: { count: 3, sourceNode, destinationNode, globalId: 65_000, ...labels },
    oam: { multiplier: 20 },
  });

it('paths of the transport profile are up at both ends, locked where the other end takes them out, and clean', async () => {
  const sniffer = await startSniffer(cable.right);
  const far = await startRouters(cable.right, {
    'mpls-tp': [pathsOf('192.0.2.2', '192.0.2.1', { labelInStart: 300_000, labelOutStart: 310_000 })],
  });
  const near = await startRouters(cable.left, {
    'mpls-tp': [pathsOf('192.0.2.1', '192.0.2.2', { labelInStart: 310_000, labelOutStart: 300_000 })],
  });
  const statesAt = (job: typeof far) =>
    listedRoutes(job).map(({ cells }) => `${cells['route']} ${String(cells['attributes']).split(',')[0]}`);
  const all = (state: string) => [1, 2, 3].map((n) => `tunnel ${n} ${state}`);
  for (const job of [near, far]) await expect.poll(() => statesAt(job), { interval: 500 }).toEqual(all('up'));
  near.command({ action: 'stop' });
  await expect.poll(() => statesAt(far), { interval: 500 }).toEqual(all('locked'));
  await near.stop();
  await far.stop();
  await sniffer.stop();
  const labels = await sniffer.fields('bfd', ['mpls.label']);
  expect(new Set(labels.flat())).toEqual(new Set(['300000,13', '300001,13', '300002,13']));
  const ends = await sniffer.fields('bfd.mep.type == 1', ['bfd.mep.global.id', 'bfd.mep.node.id', 'bfd.mep.tunnel.no']);
  expect(new Set(ends.map((end) => end.join(' ')))).toEqual(new Set([1, 2, 3].map((n) => `65000 192.0.2.1 ${n}`)));
  expect(await complaints(sniffer, 'bfd')).toEqual([]);
});
