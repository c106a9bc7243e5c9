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

it('BFD watches paths between two of our routers as RFC 5884 says, with a label and without', async () => {
  // Each end sees what the other one sends.
  const [sniffer, other] = [await startSniffer(cable.right), await startSniffer(cable.left)];
  const far = await startRouters(cable.right, {
    ldp: [ldpOf('10.99.0.20', '10.131.0.0/24')],
    'mpls-oam': [profileOf('mpls-oam', { ping: { prefix: '10.140.0.0', count: 1 } })],
  });
  // Rows are reported from the first command on.
  far.command({ action: 'list' });
  const bfd = { enabled: true, txMs: 300, rxMs: 300 };
  const near = await startRouters(cable.left, {
    ldp: [ldpOf('10.99.0.10', '10.130.0.0/32')],
    'mpls-oam': [
      profileOf('mpls-oam', { ping: { prefix: '10.131.2.0', prefixLength: 24, intervalMs: 500 }, bfd }),
      profileOf('mpls-oam', { ping: { prefix: '10.99.0.20', intervalMs: 500 }, bfd }),
      profileOf('mpls-oam', { ping: { prefix: '10.140.0.0', intervalMs: 500 }, bfd }),
    ],
  });
  const sessionsOf = (job: typeof near) => {
    job.command({ action: 'list' });
    return rowsOf(job, 'neighbours').flatMap(({ state, cells }) =>
      cells['protocol'] === 'bfd' ? [`${cells['neighbour']} ${state} ${cells['flaps']}`] : [],
    );
  };
  await expect
    .poll(() => sessionsOf(near), { interval: 300 })
    .toEqual(['BFD 10.131.2.0/24 up 0', 'BFD 10.99.0.20/32 up 0', 'BFD 10.140.0.0/32 down 0']);
  const atFar = () => sessionsOf(far).map((text) => text.replace(/ \d{10} /, ' '));
  await expect.poll(atFar).toEqual(['BFD of 10.99.0.10 up 0', 'BFD of 10.99.0.10 up 0']);
  const along = await sniffer.fields('mpls && bfd', ['mpls.label', 'ip.src', 'ip.dst', 'ip.ttl', 'udp.dstport']);
  expect(new Set(along.map((fields) => fields.join(' ')))).toEqual(new Set(['100002 10.99.0.10 127.0.0.1 1 3784']));
  const back = await other.fields('bfd && ip.src == 10.99.0.20', ['ip.dst', 'ip.ttl', 'udp.dstport', 'mpls.label']);
  expect(new Set(back.map((fields) => fields.join(' ').trim()))).toEqual(new Set(['10.99.0.10 255 4784']));
  // The end of the path falls silent without a word.
  cable.right.run('ip', 'link', 'set', cable.right.device, 'down');
  await expect
    .poll(() => sessionsOf(near), { interval: 300 })
    .toEqual(['BFD 10.131.2.0/24 down 1', 'BFD 10.99.0.20/32 down 1', 'BFD 10.140.0.0/32 down 0']);
  cable.right.run('ip', 'link', 'set', cable.right.device, 'up');
  await expect.poll(() => sessionsOf(near)[0], { interval: 300, timeout: 60_000 }).toBe('BFD 10.131.2.0/24 up 1');
  await near.stop();
  await far.stop();
  await sniffer.stop();
  await other.stop();
  for (const one of [sniffer, other])
    for (const protocol of ['bfd', 'mpls-echo']) expect(await complaints(one, protocol)).toEqual([]);
});
