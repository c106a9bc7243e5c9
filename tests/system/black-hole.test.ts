import { expect, it } from 'vitest';
import { createLine } from '../control/three-namespaces.ts';
import { runScenario } from '../engines/namespaces.ts';

const scenario = 'tests/system/black-hole-scenario.ts';

it('packets that a device drops, at once or after a while, are lost in the sum and in every second', async () => {
  const line = createLine();
  const nft = (...args: string[]) => line.middle.run('nft', ...args);
  nft('add table ip hole');
  nft('add chain ip hole forward { type filter hook forward priority 0 ; }');
  for (const name of ['datagrams', 'frames', 'replayed']) nft(`add counter ip hole ${name}`);
  nft('add rule ip hole forward udp dport 15002 counter name datagrams drop');
  // About the first second passes.
  nft('add rule ip hole forward udp dport 15009 quota over 100000 bytes counter name frames drop');
  nft('add rule ip hole forward ip daddr 10.98.2.2 udp dport != 15009 counter name replayed drop');
  const { udp, stream, replay } = await runScenario({ ...line, remove() {} }, scenario);
  const dropped = (name: string) => Number(/packets (\d+)/.exec(nft('list', 'counter', 'ip', 'hole', name))?.[1]);
  expect(dropped('datagrams')).toBeGreaterThan(1000);
  expect(udp).toMatchObject({
    verdict: 'failed',
    sent: dropped('datagrams'),
    lost: dropped('datagrams'),
    series: dropped('datagrams'),
  });
  expect(udp.lossDurationMs).toBeGreaterThan(2000);
  expect(dropped('frames')).toBeGreaterThan(500);
  expect(stream).toMatchObject({ verdict: 'failed', lost: dropped('frames'), series: dropped('frames') });
  expect(stream.received + stream.lost).toBe(stream.sent);
  expect(dropped('replayed')).toBe(1000);
  expect(replay).toMatchObject({ verdict: 'failed', sent: 1000, lost: 1000, series: 1000 });
});
