import { expect, it } from 'vitest';
import { complaints } from '../access/access-results.ts';
import { useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { profileOf } from './profiles.ts';
import { rowsOf } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test');

const ldpOf = (address: string) =>
  profileOf('ldp', { session: { transportAddress: address, lsrId: address, helloSec: 1, keepaliveSec: 5 } });

it('two of our routers build trees of both kinds and a generalized pseudowire, and tshark finds nothing wrong', async () => {
  const sniffer = await startSniffer(cable.right);
  const tree = { root: '10.99.0.20', count: 2 } as const;
  const service = { inBand: true, groupStart: '239.1.0.1', source: '198.51.100.1' };
  const profilesOf = (role: 'leaf' | 'root', labelStart: number) => ({
    mldp: [
      profileOf('mldp', { tree: { ...tree, role, labelStart }, service }),
      profileOf('mldp', {
        tree: { ...tree, role, kind: 'multipoint-to-multipoint', labelStart: labelStart + 1000 },
      }),
    ],
    fec129: [profileOf('fec129', { attachment: { globalId: 65_000 } })],
  });
  const root = await startRouters(cable.right, { ldp: [ldpOf('10.99.0.20')], ...profilesOf('root', 300_000) });
  const member = await startRouters(cable.left, { ldp: [ldpOf('10.99.0.10')], ...profilesOf('leaf', 200_000) });
  const labels = async () =>
    (await sniffer.fields('ldp.msg.type == 0x400 && ip.src == 10.99.0.10', ['ldp.msg.tlv.generic.label'])).flat();
  // Its own address, two trees of each kind and the pseudowire. What a machine sends itself passes its capture by.
  const count = async () => (await labels()).join().split(',').length;
  await expect.poll(count, { interval: 1000 }).toBeGreaterThanOrEqual(6);
  const [atRoot, atMember] = [await root.stop(), await member.stop()];
  await sniffer.stop();
  const seen = rowsOf(atRoot, 'routes').flatMap(({ cells }) =>
    ['tree', 'wire'].includes(String(cells['family'])) ? [`${cells['route']}: ${cells['attributes']}`] : [],
  );
  expect(seen.toSorted()).toEqual([
    '1-1: up, labels 400000 in, 400000 out',
    '10.99.0.20 198.51.100.1 239.1.0.1: not joined, below: 10.99.0.10 200000',
    '10.99.0.20 198.51.100.1 239.1.0.2: not joined, below: 10.99.0.10 200001',
    '10.99.0.20 id 1: not joined, below: 10.99.0.10 201000',
    '10.99.0.20 id 2: not joined, below: 10.99.0.10 201001',
  ]);
  expect(atMember.counter('control.prefixesSent')).toBeGreaterThanOrEqual(5);
  expect(await complaints(sniffer, 'ldp')).toEqual([]);
});
