import { expect, it } from 'vitest';
import { complaints } from '../access/access-results.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes, rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');

const ldpOf = (address: string, start: string) =>
  profileOf('ldp', {
    session: { transportAddress: address, lsrId: address, helloSec: 1, keepaliveSec: 5 },
    bindings: { count: 4, start, labelStart: 100_000 },
  });

it('paths between two of our routers are tested with the labels of LDP, and tshark finds nothing wrong', async () => {
  const sniffer = await startSniffer(cable.right);
  const far = await startRouters(cable.right, {
    ldp: [ldpOf('10.99.0.20', '10.131.0.0/24')],
    'mpls-oam': [profileOf('mpls-oam', { ping: { prefix: '10.130.0.1', target: 'generic-ipv4', intervalMs: 200 } })],
  });
  const near = await startRouters(cable.left, {
    ldp: [ldpOf('10.99.0.10', '10.130.0.0/32')],
    'mpls-oam': [
      // A prefix of the other router, its own address without a label, and one that it does not have.
      profileOf('mpls-oam', {
        ping: { prefix: '10.131.2.0', prefixLength: 24, intervalMs: 200, sizeBytes: 100 },
        reply: { mode: 'router-alert' },
        traceroute: { enabled: true },
      }),
      profileOf('mpls-oam', { ping: { prefix: '10.99.0.20', intervalMs: 200 } }),
      profileOf('mpls-oam', { ping: { prefix: '10.140.0.0', intervalMs: 200 } }),
    ],
  });
  const answered = () =>
    listedRoutes(near).flatMap(({ cells }) =>
      cells['protocol'] === 'mpls-oam' ? [`${cells['route']} ${cells['neighbour']} ${cells['attributes']}`] : [],
    );
  const ends = () => [...new Set(answered().map((text) => text.replace(/, [\d.]+ ms$/, '')))].sort();
  await expect
    .poll(ends, { interval: 500 })
    .toEqual(['10.131.2.0/24 10.99.0.20 TTL 1, return code 3', '10.99.0.20/32 10.99.0.20 TTL 255, return code 3']);
  const labelled = async () =>
    sniffer.fields('mpls && mpls_echo.msg_type == 1 && ip.src == 10.99.0.10', [
      'mpls.label',
      'mpls.exp',
      'ip.dst',
      'ip.ttl',
    ]);
  await expect.poll(async () => (await labelled()).length, { interval: 1000 }).toBeGreaterThan(2);
  expect((await labelled())[0]).toEqual(['100002', '6', '127.0.0.1', '1']);
  const rows = rowsOf(await near.stop(), 'neighbours').filter(({ cells }) => cells['protocol'] === 'mpls-oam');
  await far.stop();
  await sniffer.stop();
  expect(rows).toMatchObject([
    { state: 'up', cells: { neighbour: '10.131.2.0/24', flaps: 0 } },
    { state: 'up', cells: { neighbour: '10.99.0.20/32', flaps: 0 } },
    { state: 'down', cells: { routesSent: 0, lastError: 'the label of the path is not known' } },
  ]);
  expect(await complaints(sniffer, 'mpls-echo')).toEqual([]);
});
