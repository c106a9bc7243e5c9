import { expect, it } from 'vitest';
import { complaints } from '../access/access-results.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes, rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');

const frrPeer = { peerAddress: '10.99.0.2', peerAs: 65_001 };
const bgpOf = (localAddress: string, localAs: number, peer: { peerAddress: string; peerAs: number } = frrPeer) =>
  profileOf('bgp', {
    session: { localAddress, localAs, connectRetrySec: 1, ...peer },
    capabilities: { families: ['l2vpn-evpn'] },
  });

const wiresOf = (localId: number, remoteId: number, more = {}) =>
  profileOf('vpws', { instance: { localId, remoteId, count: 3, routeTargets: ['65000:100'], ...more } });

it('two of our routers agree on wires of EVPN through FRR, which has their routes', async () => {
  const sniffer = await startSniffer(cable.right);
  const neighbour = (address: string, as: number) =>
    `neighbor ${address} remote-as ${as}\n  neighbor ${address} passive`;
  const frr = await startFrr(
    cable.right,
    ['bgpd'],
    `router bgp 65001
      bgp router-id 10.99.0.2
      no bgp ebgp-requires-policy
      no bgp default ipv4-unicast
      ${neighbour('10.99.0.10', 65_000)}
      ${neighbour('10.99.0.11', 65_002)}
      address-family l2vpn evpn
       neighbor 10.99.0.10 activate
       neighbor 10.99.0.11 activate`,
  );
  const near = await startRouters(cable.left, {
    bgp: [bgpOf('10.99.0.10', 65_000)],
    vpws: [wiresOf(10, 20), wiresOf(30, 40)],
  });
  const far = await startRouters(cable.left, {
    bgp: [bgpOf('10.99.0.11', 65_002)],
    vpws: [wiresOf(20, 10, { count: 2, labelStart: 500_000 }), wiresOf(40, 30, { mtu: 9000 })],
  });
  const wires = () =>
    listedRoutes(near).flatMap(({ cells }) =>
      cells['protocol'] === 'vpws' ? [`${cells['route']}: ${cells['attributes']}`] : [],
    );
  await expect.poll(wires, { interval: 500 }).toEqual([
    // FRR passes on everything but the label.
    '10-20: up, labels 400000 in, 0 out',
    '11-21: up, labels 400001 in, 0 out',
    '12-22: no route, labels 400002 in, none out',
    ...[0, 1, 2].map((i) => `${30 + i}-${40 + i}: other MTU, labels ${400_000 + i} in, 0 out`),
  ]);
  const table = await frr.show('show bgp l2vpn evpn');
  for (const id of [10, 11, 12, 20, 21, 30, 40]) expect(table).toContain(`[1]:[${id}]:[00:00:00:00:00:00:00:00:00:00]`);
  far.command({ action: 'withdraw' });
  await expect.poll(() => wires().filter((text) => text.includes('no route')), { timeout: 60_000 }).toHaveLength(6);
  const totals = await near.stop();
  await far.stop();
  await sniffer.stop();
  expect(rowsOf(totals, 'neighbours').map(({ state }) => state)).toContain('down');
  expect(await complaints(sniffer, 'bgp')).toEqual([]);
});

it('two of our routers tell each other the labels of their wires, and tshark finds nothing wrong', async () => {
  const sniffer = await startSniffer(cable.right);
  const far = await startRouters(cable.right, {
    bgp: [bgpOf('10.99.0.11', 65_002, { peerAddress: '10.99.0.10', peerAs: 65_000 })],
    vpws: [wiresOf(20, 10, { labelStart: 500_000 })],
  });
  const near = await startRouters(cable.left, {
    bgp: [bgpOf('10.99.0.10', 65_000, { peerAddress: '10.99.0.11', peerAs: 65_002 })],
    vpws: [wiresOf(10, 20)],
  });
  const wiresAt = (job: typeof far) =>
    listedRoutes(job).flatMap(({ cells }) =>
      cells['protocol'] === 'vpws' ? [`${cells['route']}: ${cells['attributes']}`] : [],
    );
  const expected = (first: number, other: number, own: number, label: number) =>
    [0, 1, 2].map((i) => `${first + i}-${other + i}: up, labels ${own + i} in, ${label + i} out`);
  await expect.poll(() => wiresAt(near), { interval: 500 }).toEqual(expected(10, 20, 400_000, 500_000));
  await expect.poll(() => wiresAt(far), { interval: 500 }).toEqual(expected(20, 10, 500_000, 400_000));
  await near.stop();
  await far.stop();
  await sniffer.stop();
  expect(await complaints(sniffer, 'bgp')).toEqual([]);
});
