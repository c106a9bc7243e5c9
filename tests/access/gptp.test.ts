import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Side, startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { complaints, portRowsOf, runProgram, temporaryFolder, untilStopped } from './access-results.ts';
import { accessJob, profile } from './profiles.ts';

/** Starts ptp4l as a clock of 802.1AS that leaves the machine's clock alone. */
const startPtp4l = (side: Side, priority1: number) => {
  const folder = temporaryFolder();
  const group = '01:80:C2:00:00:0E';
  const lines = [
    ...['[global]', `priority1 ${priority1}`, 'gmCapable 1', 'transportSpecific 0x1', 'network_transport L2'],
    ...['delay_mechanism P2P', `ptp_dst_mac ${group}`, `p2p_dst_mac ${group}`, 'neighborPropDelayThresh 1000000000'],
    ...['min_neighbor_prop_delay -1000000000', 'follow_up_info 1', 'path_trace_enabled 1', 'assume_two_step 1'],
    ...[
      'logSyncInterval -3',
      'logAnnounceInterval -2',
      'logMinPdelayReqInterval -2',
      'syncReceiptTimeout 3',
      'time_stamping software',
      'free_running 1',
      'summary_interval 0',
    ],
    ...['tx_timestamp_timeout 1000', `uds_address ${join(folder, 'ptp4l')}`],
  ];
  writeFileSync(join(folder, 'ptp4l.conf'), `${lines.join('\n')}\n`);
  return runProgram(side, 'ptp4l', ['-i', side.device, '-f', join(folder, 'ptp4l.conf'), '-m', '-q']);
};

const clockJob = (side: Side, priority1: number) => ({
  ...accessJob('client', side.device, {
    gptp: profile('gptp', {
      clock: { priority1 },
      port: { delayThresholdNs: 1_000_000_000, announceLog: -2, delayLog: -2 },
    }),
  }),
  duration: untilStopped,
});

describe('a clock of ours', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  it('leads ptp4l, without a complaint of tshark', async () => {
    const { left, right } = cable;
    const sniffer = await startSniffer(right);
    const ptp4l = startPtp4l(right, 248);
    const job = await startJobIn(left, clockJob(left, 100));
    await expect.poll(ptp4l.output, { timeout: 60_000 }).toMatch(/to SLAVE|to UNCALIBRATED/);
    const totals = await job.stop();
    await sniffer.stop();
    expect(portRowsOf(totals).at(-1)).toMatchObject({ state: 'leader', cells: { keepsTime: 'yes', priority1: 100 } });
    expect(totals.histogram('access.pathDelay').count).toBeGreaterThan(0);
    expect(await complaints(sniffer, 'ptp')).toEqual([]);
  });

  it('follows ptp4l, and notices when it is gone', async () => {
    const { left, right } = cable;
    const ptp4l = startPtp4l(right, 10);
    const job = await startJobIn(left, clockJob(left, 246));
    await expect.poll(ptp4l.output, { timeout: 60_000 }).toMatch(/assuming the grand master role|to MASTER/);
    await new Promise((resolve) => setTimeout(resolve, 5000));
    ptp4l.child.kill('SIGKILL');
    await ptp4l.exited;
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const totals = await job.stop();
    const rows = portRowsOf(totals);
    const following = rows.filter(({ state }) => state === 'follower');
    expect(following.at(-1)).toMatchObject({ cells: { priority1: 10, keepsTime: 'yes' } });
    expect(rows.at(-1)?.state).not.toBe('follower');
    // Times are taken by software on a busy machine.
    expect(totals.histogram('access.clockOffset').quantile(0.5)).toBeLessThan(20_000);
  });
});
