import { describe, expect, it } from 'vitest';
import { startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { complaints, portRowsOf, seconds, untilStopped } from './access-results.ts';
import { addCables, startOpenVswitch } from './open-vswitch.ts';
import { accessJob, profile, sessionsProfile } from './profiles.ts';

describe('link aggregation', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('agrees with Open vSwitch, and sessions outlive a member that fails', async () => {
    const { left, right } = cable;
    const devices = addCables(cable, 2);
    right.run('ip', 'addr', 'flush', 'dev', right.device);
    const ovs = await startOpenVswitch(right);
    ovs.configure('add-bond', 'br0', 'bond0', ...devices.right, 'lacp=passive', 'bond_mode=balance-tcp');
    right.run('ip', 'addr', 'add', `${right.address}/24`, 'dev', 'br0');
    right.run('ip', 'link', 'set', 'br0', 'up');
    const sniffer = await startSniffer(right);
    const job = accessJob('client', left.device, {
      sessions: sessionsProfile(20, { traffic: { ipv4PacketsPerSec: 5 } }),
      ipoe: profile('ipoe', { ipv4: { method: 'static', addressStart: '10.99.0.50', gateway: right.address } }),
      links: profile('links', { link: { sourceMac: '02:66:00:00:00:01' } }),
      lag: profile('lag', { lacp: { key: 7 }, flaps: { intervalSec: 6, downSec: 4, count: 1 } }),
    });
    const client = await startJobIn(left, {
      ...job,
      config: { ...job.config, interfaces: devices.left },
      duration: seconds(15),
    });
    const enabled = () => [...ovs.ask('lacp/show', 'bond0').matchAll(/may_enable: (\w+)/g)].map(([, value]) => value);
    await expect.poll(enabled, { timeout: 20_000 }).toEqual(['true', 'true', 'true']);
    expect(ovs.ask('lacp/show', 'bond0')).toMatch(/partner key: 7/);
    await expect.poll(enabled, { timeout: 20_000 }).toContain('false');
    await expect.poll(enabled, { timeout: 20_000 }).toEqual(['true', 'true', 'true']);
    const totals = await client.totals;
    await sniffer.stop();
    expect(totals.histogram('access.setup').count).toBe(20);
    expect(totals.counter('access.flapped')).toBe(0);
    expect(totals.counter('access.proofReceived')).toBeGreaterThan(300);
    expect(totals.counter('access.linkChanges')).toBeGreaterThanOrEqual(3);
    const states = portRowsOf(totals).map(({ state, cells }) => `${cells['interface']} ${state}`);
    expect(states).toEqual(expect.arrayContaining(['l0 distributing', 'l1 distributing', 'l2 down']));
    expect(await sniffer.fields('lacp && lacp.actor.key == 7', ['frame.number'])).not.toEqual([]);
    expect(await complaints(sniffer, 'lacp')).toEqual([]);
  });

  it('carries a gateway and its subscribers over two groups of ours', async () => {
    const { left, right } = cable;
    const devices = addCables(cable, 1);
    const ipoe = profile('ipoe');
    const dhcp = profile('dhcp', { client: { timeoutSec: 1 } });
    const serverJob = accessJob('server', right.device, {
      ipoe,
      dhcp,
      lag: profile('lag', { lacp: { mode: 'passive' } }),
    });
    const server = await startJobIn(right, {
      ...serverJob,
      config: { ...serverJob.config, interfaces: devices.right },
      duration: untilStopped,
    });
    const clientJob = accessJob('client', left.device, {
      sessions: sessionsProfile(40, { traffic: { ipv4PacketsPerSec: 4 } }),
      ...{ ipoe, dhcp },
      links: profile('links', { link: { sourceMac: '02:77:00:00:00:01' } }),
      lag: profile('lag', { group: { hash: 'layer2', minActiveLinks: 2 } }),
    });
    const client = await startJobIn(left, {
      ...clientJob,
      config: { ...clientJob.config, interfaces: devices.left },
      duration: seconds(6),
    });
    const totals = await client.totals;
    const served = await server.stop();
    expect(totals.histogram('access.setup').count).toBe(40);
    expect(totals.counter('access.proofReceived')).toBeGreaterThan(100);
    expect(served.counter('access.rx.lacp')).toBeGreaterThan(4);
    // Both links have carried packets of subscribers.
    for (const device of devices.left)
      expect(Number(left.run('cat', `/sys/class/net/${device}/statistics/tx_packets`))).toBeGreaterThan(40);
  });
});
