import { expect, it } from 'vitest';
import { startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { complaints, portRowsOf, untilStopped } from './access-results.ts';
import { accessJob, profile, sessionsProfile } from './profiles.ts';

const cable = useCable('test', stopNeighbourDiscovery);

it('an access node reports its lines by ANCP, and when their link goes down, without a complaint of tshark', async () => {
  const { left, right } = cable;
  const sniffer = await startSniffer(right);
  const ancp = { enabled: true, peerAddress: right.address, keepaliveSec: 1 };
  const line = { circuitId: 'olt 1/1:{n}', kind: 'vdsl2' as const };
  const ipoe = { ipoe: profile('ipoe'), dhcp: profile('dhcp', { client: { timeoutSec: 1 } }) };
  const server = await startJobIn(right, {
    ...accessJob('server', right.device, { ...ipoe, accessLine: profile('accessLine', { ancp }) }),
    duration: untilStopped,
  });
  const client = await startJobIn(left, {
    ...accessJob('client', left.device, {
      ...ipoe,
      sessions: sessionsProfile(50),
      accessLine: profile('accessLine', { ancp, line, vlan: { mode: '1:1', outerStart: 100, outerEnd: 199 } }),
      links: profile('links', {
        link: { sourceMac: '02:77:00:00:00:01' },
        flaps: { intervalSec: 3, downSec: 1, count: 1 },
      }),
    }),
    duration: untilStopped,
  });
  const reported = async (type: number) => {
    const texts = await sniffer.fields(`ancp.mtype == ${type}`, ['ancp.ext_tlv.value']);
    return texts.join().match(/olt 1\/1:/g)?.length ?? 0;
  };
  await expect.poll(() => reported(81)).toBe(50);
  await expect.poll(() => reported(80)).toBe(100);
  const sent = await client.stop();
  const heard = await server.stop();
  await sniffer.stop();
  expect([sent, heard].map((totals) => totals.counter('access.lineChanges'))).toEqual([150, 200]);
  expect(sent.counter('access.timeouts.ancp')).toBe(0);
  const rows = portRowsOf(heard);
  expect(rows.find(({ cells }) => cells['circuitId'] === 'olt 1/1:7')).toMatchObject({
    cells: {
      remoteId: 'line-7',
      upstreamKbps: 40_000,
      downstreamKbps: 100_000,
      technology: 'dsl',
      accessNode: left.address,
    },
  });
  // The node has gone: the state of its lines is unknown.
  const last = new Map(rows.map((row) => [row.index, row.state]));
  expect([...last.values()]).toEqual(Array.from({ length: 50 }, () => 'unknown'));
  const texts = await sniffer.fields('ancp.mtype == 80', ['ancp.ext_tlv.value']);
  expect(texts.join()).toContain('olt 1/1:50');
  expect(await complaints(sniffer, 'ancp')).toEqual([]);
});
