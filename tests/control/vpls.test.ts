import { expect, it } from 'vitest';
import { complaints } from '../access/access-results.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { startGobgp } from './gobgp.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test', ({ right }) => {
  right.run('ip', 'link', 'set', 'lo', 'up');
});

const peer = { peerAddress: '10.99.0.2', peerAs: 65_001 };
const bgpOf = (localAddress: string, localAs: number, far: { peerAddress: string; peerAs: number } = peer) =>
  profileOf('bgp', {
    session: { localAddress, localAs, connectRetrySec: 1, ...far },
    capabilities: { families: ['l2vpn-vpls'] },
  });

const sitesOf = (siteIdStart: number, labelStart: number, more = {}) =>
  profileOf('vpls', {
    instance: { signalling: 'bgp', vpnIdStart: 7, count: 2, controlWord: false, labelStart, ...more },
    sites: { siteIdStart, routeTargets: ['65000:100'] },
  });

const wiresOf = (localId: number, remoteId: number, labelStart: number) =>
  profileOf('vpws', {
    instance: { signalling: 'bgp', localId, remoteId, count: 2, labelStart, routeTargets: ['65000:200'] },
  });

const listed = (job: Awaited<ReturnType<typeof startRouters>>, protocol: string) =>
  listedRoutes(job).flatMap(({ cells }) =>
    cells['protocol'] === protocol ? [`${cells['route']}: ${cells['attributes']}`] : [],
  );

it('GoBGP takes the sites of VPLS of our routers and passes on what makes their wires', async () => {
  await startGobgp(cable.right, [
    { address: '10.99.0.10', as: 65_000, families: ['l2vpn-vpls'] },
    { address: '10.99.0.11', as: 65_002, families: ['l2vpn-vpls'] },
  ]);
  const near = await startRouters(cable.left, {
    bgp: [bgpOf('10.99.0.10', 65_000)],
    vpls: [sitesOf(3, 1000)],
  });
  const far = await startRouters(cable.left, {
    bgp: [bgpOf('10.99.0.11', 65_002)],
    // A site beyond the first block of the other router.
    vpls: [sitesOf(20, 2000, { mtu: 1400, count: 1 }), sitesOf(5, 3000)],
  });
  const expected = [
    'vpn 7 sites 3-5: up, labels 1004 in, 3002 out',
    'vpn 7 sites 3-20: other MTU, labels 1019 in, 2010 out',
    'vpn 8 sites 3-5: up, labels 1012 in, 3010 out',
  ];
  await expect.poll(() => listed(near, 'vpls'), { interval: 500 }).toEqual(expected);
  far.command({ action: 'withdraw' });
  await expect
    .poll(() => listed(near, 'vpls'), { interval: 500 })
    .toEqual([3, 3].map((site, i) => `vpn ${7 + i} site ${site}: no site, labels none in, none out`));
  far.command({ action: 'announce' });
  await expect.poll(() => listed(near, 'vpls'), { interval: 500 }).toEqual(expected);
  await near.stop();
  await far.stop();
});

it('two of our routers have sites of VPLS and wires of BGP, and tshark finds nothing wrong', async () => {
  const sniffer = await startSniffer(cable.right);
  const far = await startRouters(cable.right, {
    bgp: [bgpOf('10.99.0.11', 65_002, { peerAddress: '10.99.0.10', peerAs: 65_000 })],
    vpls: [sitesOf(4, 2000)],
    vpws: [wiresOf(20, 10, 500_000)],
  });
  const near = await startRouters(cable.left, {
    bgp: [bgpOf('10.99.0.10', 65_000, { peerAddress: '10.99.0.11', peerAs: 65_002 })],
    vpls: [sitesOf(3, 1000)],
    vpws: [wiresOf(10, 20, 400_000)],
  });
  await expect
    .poll(() => [...listed(near, 'vpls'), ...listed(near, 'vpws')], { interval: 500 })
    .toEqual([
      'vpn 7 sites 3-4: up, labels 1003 in, 2002 out',
      'vpn 8 sites 3-4: up, labels 1011 in, 2010 out',
      '10-20: up, labels 400000 in, 500000 out',
      '11-21: up, labels 400001 in, 500001 out',
    ]);
  await near.stop();
  await far.stop();
  await sniffer.stop();
  expect(await complaints(sniffer, 'bgp')).toEqual([]);
});
