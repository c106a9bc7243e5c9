import { describe, expect, it } from 'vitest';
import { startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { columnOf, complaints, runProgram, seconds } from './access-results.ts';
import { makeSwitch } from './multicast-switch.ts';
import { accessJob, profile, sessionsProfile } from './profiles.ts';

const groups = ['239.1.0.1', '239.1.0.2', '239.1.0.3'];

describe('multicast groups of access sessions', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('are joined, changed and left at a bridge of the kernel, which sends groups to members alone', async () => {
    const { left, right } = cable;
    makeSwitch(right);
    for (const group of groups) runProgram(right, 'ping', ['-q', '-i', '0.02', '-t', '4', '-I', 'br0', group]);
    const sniffer = await startSniffer(right);
    const client = await startJobIn(left, {
      ...accessJob('client', left.device, {
        sessions: sessionsProfile(1),
        ipoe: profile('ipoe', { ipv4: { method: 'static', addressStart: '10.99.0.50', gateway: right.address } }),
        igmp: profile('igmp', {
          host: { groupStart: '239.1.0.1', groupCount: 3, reportDelayMs: 100 },
          zapping: { intervalSec: 1, count: 0, waitMs: 900 },
        }),
        links: profile('links', { link: { sourceMac: '02:55:00:00:00:01' } }),
      }),
      duration: seconds(6),
    });
    await expect
      .poll(() => right.run('bridge', 'mdb', 'show', 'dev', 'br0'), { timeout: 20_000 })
      .toMatch(/port r0 grp 239\.1\.0\.[123]/);
    const totals = await client.totals;
    await sniffer.stop();
    expect(totals.histogram('access.join').count).toBeGreaterThanOrEqual(3);
    expect(totals.histogram('access.leave').count).toBeGreaterThanOrEqual(2);
    expect(totals.counter('access.tx.igmp')).toBeGreaterThan(8);
    expect(columnOf(totals, 'groups').length).toBeGreaterThanOrEqual(2);
    expect(right.run('bridge', 'mdb', 'show', 'dev', 'br0')).not.toContain('port r0 grp 239.1.0');
    expect((await sniffer.fields('igmp.type == 0x22', ['frame.number'])).length).toBeGreaterThan(0);
    expect(await complaints(sniffer, 'igmp')).toEqual([]);
  });
});
