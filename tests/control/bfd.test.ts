import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
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
