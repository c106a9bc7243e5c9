import { describe, expect, it } from 'vitest';
import { startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { complaints, portRowsOf, untilStopped } from './access-results.ts';
import { addCables, startOpenVswitch } from './open-vswitch.ts';
import { accessJob, profile } from './profiles.ts';

const bridgeJob = (devices: string[], config: Parameters<typeof profile<'stp'>>[1]) => {
  const job = accessJob('client', devices[0] ?? '', { stp: profile('stp', config) });
  return { ...job, config: { ...job.config, interfaces: devices }, duration: untilStopped };
};

describe('a bridge of ours', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('takes its place in a tree of RSTP with Open vSwitch, with one link in reserve, and takes over as root', async () => {
    const { left, right } = cable;
    const devices = addCables(cable, 1);
    const ovs = await startOpenVswitch(right);
    for (const device of devices.right) ovs.configure('add-port', 'br0', device);
    ovs.configure('set', 'bridge', 'br0', 'rstp_enable=true', 'other_config:rstp-priority=4096');
    const sniffer = await startSniffer(right);
    const lower = await startJobIn(left, bridgeJob(devices.left, {}));
    const shown = () => ovs.ask('rstp/show', 'br0');
    await expect.poll(() => shown().match(/Designated\s+Forwarding/g)?.length).toBe(2);
    const states = (await lower.stop().then(portRowsOf)).map(({ state, cells }) => `${cells['role']} ${state}`);
    expect(states).toContain('root forwarding');
    expect(states).toContain('alternate discarding');
    const root = await startJobIn(
      left,
      bridgeJob(devices.left, { bridge: { priority: 0, address: '02:0a:00:00:00:01' } }),
    );
    await expect.poll(shown).toMatch(/Root ID:\s+stp-priority +0\s+stp-system-id +02:0a:00:00:00:01/);
    await expect.poll(shown).toMatch(/Root\s+Forwarding/);
    await expect.poll(shown).toMatch(/Alternate\s+Discarding/);
    const totals = await root.stop();
    const last = portRowsOf(totals).map(({ state, cells }) => `${cells['interface']} ${cells['role']} ${state}`);
    // Agreed with the root port of the switch at once, not after two delays.
    expect(last).toContain(`${devices.left[0]} designated forwarding`);
    await sniffer.stop();
    expect(await sniffer.fields('stp.version == 2 && stp.flags.agreement == 1', ['frame.number'])).not.toEqual([]);
    expect(await complaints(sniffer, 'stp')).toEqual([]);
  });

  it('agrees with the bridge of the kernel by STP', async () => {
    const { left, right } = cable;
    right.run(
      'ip',
      'link',
      'add',
      'br1',
      'type',
      'bridge',
      'stp_state',
      '1',
      'hello_time',
      '100',
      'forward_delay',
      '400',
    );
    right.run('ip', 'link', 'set', 'br1', 'type', 'bridge', 'max_age', '600', 'priority', '61440');
    right.run('ip', 'link', 'set', right.device, 'master', 'br1');
    right.run('ip', 'link', 'set', 'br1', 'up');
    const bridge = { priority: 4096, address: '02:0b:00:00:00:01', helloSec: 1, maxAgeSec: 6, forwardDelaySec: 4 };
    const job = await startJobIn(left, bridgeJob([left.device], { bridge }));
    const file = (name: string) => right.run('cat', `/sys/class/net/br1/${name}`).trim();
    await expect.poll(() => file('bridge/root_id')).toBe('1000.020b00000001');
    // Listening, learning, forwarding, by the times of the root.
    await expect.poll(() => file(`brif/${right.device}/state`)).toBe('3');
    const totals = await job.stop();
    expect(portRowsOf(totals).at(-1)).toMatchObject({ cells: { protocol: 'STP', role: 'designated' } });
    expect(totals.counter('access.rx.stp')).toBeGreaterThan(0);
  });

  it('has trees of MSTP with another of ours, and one that RSTP of Open vSwitch shares', async () => {
    const { left, right } = cable;
    const devices = addCables(cable, 2);
    const [nearest = '', , toSwitch = ''] = devices.right;
    const ovs = await startOpenVswitch(right);
    ovs.configure('add-port', 'br0', toSwitch);
    ovs.configure('set', 'bridge', 'br0', 'rstp_enable=true', 'other_config:rstp-priority=61440');
    const sniffer = await startSniffer(right);
    const configOf = (priority: number, ofTree: number) => ({
      bridge: { version: 'mstp' as const, priority },
      mst: { region: 'lab', revision: 3, instances: [{ id: 7, vlans: '10-19,30', priority: ofTree }] },
    });
    const upper = await startJobIn(right, bridgeJob(devices.right.slice(0, 2), configOf(4096, 32_768)));
    const lower = await startJobIn(left, bridgeJob(devices.left, configOf(8192, 4096)));
    const shown = () => ovs.ask('rstp/show', 'br0');
    await expect.poll(shown).toMatch(/Root ID:\s+stp-priority +4096/);
    await expect.poll(shown).toMatch(/Root\s+Forwarding/);
    // Designated, learning and forwarding, nothing proposed: the other end has agreed.
    const statesSent = async () =>
      (await sniffer.fields('mstp.msti.msti_id == 7', ['mstp.msti.flags'])).map(([flags]) => Number(flags) & 0x3e);
    await expect.poll(statesSent).toContain(0x3c);
    const [ofLower, ofUpper] = [portRowsOf(await lower.stop()), portRowsOf(await upper.stop())];
    await sniffer.stop();
    const lastOf = (rows: typeof ofLower, device: string | undefined, instance: number) => {
      const row = rows.findLast(({ cells }) => cells['interface'] === device && cells['instance'] === instance);
      return `${row?.cells['role']} ${row?.state}`;
    };
    const trees = [0, 7].map((tree) => devices.left.map((device) => lastOf(ofLower, device, tree)));
    expect(trees).toEqual([
      ['root forwarding', 'alternate discarding', 'designated forwarding'],
      ['designated forwarding', 'designated forwarding', 'designated forwarding'],
    ]);
    expect(lastOf(ofUpper, nearest, 7)).toBe('root forwarding');
    expect(lastOf(ofUpper, devices.right[1], 7)).toBe('alternate discarding');
    expect(await sniffer.fields('mstp.config_name == "lab"', ['frame.number'])).not.toEqual([]);
    expect(await complaints(sniffer, 'stp')).toEqual([]);
  });
});
