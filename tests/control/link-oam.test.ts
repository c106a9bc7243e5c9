import { expect, it } from 'vitest';
import { complaints } from '../access/access-results.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { profileOf } from './profiles.ts';
import { rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');

it('both ends of a link find each other, events arrive, and tshark finds nothing wrong', async () => {
  const sniffer = await startSniffer(cable.right);
  const passive = await startRouters(cable.right, {
    'link-oam': [profileOf('link-oam', { discovery: { mode: 'passive' } })],
  });
  const active = await startRouters(cable.left, {
    'link-oam': [profileOf('link-oam', { events: { kind: 'critical', intervalSec: 1 } })],
  });
  const critical = async () => (await sniffer.fields('oampdu.flags.criticalEvent == 1', ['frame.number'])).length;
  await expect.poll(critical, { interval: 1000 }).toBeGreaterThan(1);
  const near = rowsOf(await active.stop(), 'neighbours');
  const far = rowsOf(await passive.stop(), 'neighbours');
  await sniffer.stop();
  expect(near).toMatchObject([{ state: 'up', cells: { protocol: 'link-oam', flaps: 0 } }]);
  expect(far).toMatchObject([{ cells: { protocol: 'link-oam', neighbour: expect.stringMatching(/^OUI /) } }]);
  expect(await complaints(sniffer, 'slow')).toEqual([]);
});
