import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startJobIn } from '../engines/namespaces.ts';
import { stopNeighbourDiscovery, useCable } from '../engines/use-cable.ts';
import { startSniffer } from '../stack/sniffer.ts';
import { complaints, rowsOf, runProgram, temporaryFolder, untilMore, untilStopped, watched } from './access-results.ts';
import { accessJob, profile } from './profiles.ts';

describe('OpenFlow switches', () => {
  const cable = useCable('test', stopNeighbourDiscovery);

  // The controller itself ends at the first packet of version 1.5.
  it.each(['1.0', '1.1', '1.2', '1.3', '1.4'] as const)(
    'learn from the controller of Open vSwitch by version %s',
    async (version) => {
      const { left, right } = cable;
      const controller = runProgram(right, 'ovs-testcontroller', [
        ...['-v', `-OOpenFlow${version.replace('.', '')}`, '--max-idle=60'],
        ...[`--unixctl=${join(temporaryFolder(), 'control')}`, `ptcp:6653:${right.address}`],
      ]);
      await expect.poll(controller.output).not.toContain('failed');
      const sniffer = await startSniffer(right);
      const openflow = profile('openflow', {
        channel: { controllerAddress: right.address, version: '1.5', echoSec: 1 },
        switch: { count: 3 },
        load: { packetInPerSec: 20, topology: 'line' },
      });
      const job = await startJobIn(left, { ...accessJob('client', left.device, { openflow }), ...watched });
      await untilMore(job, 'access.packetIns', 60);
      await untilMore(job, 'access.packetOuts', 30);
      await untilMore(job, 'access.flowMods', 0);
      const totals = await job.stop();
      await sniffer.stop();
      expect(rowsOf(totals)).toHaveLength(3);
      for (const { state, cells } of rowsOf(totals))
        expect({ state, ...cells }).toMatchObject({ state: 'up', version });
      expect(totals.gauge('access.flows')).toBeGreaterThan(0);
      expect(totals.histogram('access.packetInLatency').count).toBeGreaterThan(30);
      // tshark reads the header only of versions 1.1 and 1.2.
      const dissector = {
        ...{ '1.0': 'openflow_v1', '1.1': 'openflow', '1.2': 'openflow', '1.3': 'openflow_v4', '1.4': 'openflow_v5' },
      };
      expect(await complaints(sniffer, `tcp.srcport != 6653 && ${dissector[version]}`)).toEqual([]);
    },
  );

  it.each(['1.3', '1.4', '1.5'] as const)(
    'answer ovs-ofctl with ports and flows, which end by time, by version %s',
    async (version) => {
      const { left, right } = cable;
      const openflow = profile('openflow', {
        channel: { port: 6653, version },
        switch: { tables: 2, maxFlows: 2 },
      });
      const job = await startJobIn(left, { ...accessJob('client', left.device, { openflow }), duration: untilStopped });
      const ofctl = (...args: string[]) =>
        right.run('ovs-ofctl', '-O', `OpenFlow${version.replace('.', '')}`, '-t', '10', ...args);
      const target = `tcp:${left.address}:6653`;
      await expect.poll(() => ofctl('dump-ports-desc', target)).toContain('4(port4)');
      expect(ofctl('dump-desc', target)).toContain('rushhour switch 1');
      ofctl('add-flow', target, 'table=1,priority=9,ip,nw_dst=10.0.0.0/8,idle_timeout=2,actions=output:2');
      ofctl('add-flow', target, 'table=1,priority=7,arp,actions=controller');
      const dumped = ofctl('dump-flows', target);
      expect(dumped).toMatch(/table=1.*idle_timeout=2.*priority=9,ip,nw_dst=10\.0\.0\.0\/8 actions=output:2/);
      expect(() => ofctl('add-flow', target, 'table=1,priority=1,actions=drop')).toThrow(/TABLE_FULL/);
      await expect.poll(() => ofctl('dump-flows', target)).not.toContain('nw_dst');
      ofctl('del-flows', target, 'arp');
      expect(ofctl('dump-aggregate', target)).toContain('flow_count=0');
      for (const what of ['dump-ports', 'dump-tables']) expect(ofctl(what, target)).toMatch(/port|table/);
      await job.stop();
    },
  );
});
