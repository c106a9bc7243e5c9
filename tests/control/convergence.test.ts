import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runScenario, startJobIn } from '../engines/namespaces.ts';
import { takePriority } from '../engines/priority.ts';
import { useCable } from '../engines/use-cable.ts';
import { captureGaps, outageUs } from './arrival-gaps.ts';
import { startFrr } from './frr.ts';
import { rowsOf } from './result-rows.ts';
import { countForwarded, createLine } from './three-namespaces.ts';

takePriority();

const scenario = 'tests/control/convergence-scenario.ts';
const port = 15_010;
const receiverAt = (host: string, more: object = {}) => ({
  engine: 'convergence',
  config: { role: 'server', listen: [{ host, port }], ...more },
  duration: { mode: 'continuous' } as const,
});
const senderTo = (host: string, config: object, seconds: number) => ({
  engine: 'convergence',
  config: { role: 'client', targets: [{ host, port }], ...config },
  duration: { seconds },
});

interface FlowCells {
  readonly flow: number;
  readonly lost: number;
  readonly lossDurationUs: number;
  readonly lastUs: number;
}

/** Tshark has seen the silence as long as it was measured, whether the sender was punctual or not. */
const expectAsSeen = ({ flow, lost, lossDurationUs, lastUs }: FlowCells, gaps: ReadonlyMap<number, number>) => {
  const seenUs = outageUs(gaps.get(flow) ?? Number.NaN, lost);
  expect(Math.abs(lossDurationUs - seenUs)).toBeLessThan(2000);
  expect(Math.abs(lastUs - seenUs)).toBeLessThan(2000);
};

describe('convergence', () => {
  it('is the time for which the router drops the flows, as its counters show', async () => {
    const line = createLine();
    const faults = countForwarded(line, port);
    const gapsOf = await captureGaps(line.right, port);
    const server = await startJobIn(line.right, receiverAt(line.right.address, { isCounted: true }));
    const client = await startJobIn(line.left, senderTo(line.right.address, { streams: 5, load: { rate: 5000 } }, 4));
    await sleep(1500);
    faults.drop();
    await sleep(400);
    faults.restore();
    const sent = await client.totals;
    const received = await server.stop();
    const gaps = await gapsOf();
    const dropped = faults.read('dropped');
    expect(dropped).toBeGreaterThan(500);
    const rows = rowsOf(received, 'flows');
    expect(rows).toHaveLength(5);
    const cells = rows.map((row) => row.cells as Record<string, number>);
    expect(cells.reduce((sum, { lost = 0 }) => sum + lost, 0)).toBe(dropped);
    expect(received.counter('convergence.lost')).toBe(dropped);
    expect(received.counter('convergence.received') + dropped).toBe(sent.counter('convergence.sent'));
    for (const { state, cells: flow } of rows) {
      expect(state).toBe('up');
      expect(flow).toMatchObject({ interruptions: 1, event: '', controlToDataPlaneUs: null });
      expectAsSeen(flow as never, gaps);
    }
    expect(received.histogram('convergence.dataPlane').count).toBe(5);
    const meanUs = cells.reduce((sum, { lossDurationUs = 0 }) => sum + lossDurationUs, 0) / 5;
    expect(received.counter('convergence.lossDurationMs')).toBeCloseTo(meanUs / 1000, 0);
    expect(received.gauge('convergence.flowsDown')).toBe(0);
  });

  it('shows flows that do not recover as down', async () => {
    const line = createLine();
    const faults = countForwarded(line, port);
    const server = await startJobIn(line.right, receiverAt(line.right.address));
    const client = await startJobIn(line.left, senderTo(line.right.address, { streams: 2, load: { rate: 200 } }, 3));
    await sleep(1500);
    faults.drop();
    await client.totals;
    const received = await server.stop();
    expect(received.gauge('convergence.flowsDown')).toBe(2);
    expect(rowsOf(received, 'flows')).toMatchObject([{ state: 'down' }, { state: 'down' }]);
  });

  const cable = useCable('test');
  const tunnel = { source: '10.99.0.1', destination: '10.99.0.2', network: 5 };
  it.each([
    ['vlan', { vlan: [{ id: 7 }] }, false],
    ['mpls', { mpls: [{ label: 16 }, { label: 17 }] }, true],
    ['gre', { tunnel: { type: 'gre', ...tunnel } }, true],
    ['vxlan', { tunnel: { type: 'vxlan', ...tunnel } }, true],
  ])('watches flows inside of %s', async (_, headers, isEncapsulated) => {
    const server = await startJobIn(cable.right, receiverAt('10.99.0.2', { isEncapsulated }));
    const sizes = { mix: [{ frameSize: 200, weight: 1 }] };
    const config = { streams: 3, load: { rate: 600 }, headers, sizes };
    const sent = await (await startJobIn(cable.left, senderTo('10.99.0.2', config, 1))).totals;
    const received = await server.stop();
    expect(received.counter('convergence.received')).toBe(sent.counter('convergence.sent'));
    expect(received.counter('convergence.received')).toBeGreaterThan(500);
    expect(rowsOf(received, 'flows')).toHaveLength(3);
  });

  it('is related to routes that an emulated router withdraws and announces again', async () => {
    const line = createLine();
    const faults = countForwarded(line, port);
    const frr = await startFrr(
      line.middle,
      ['bgpd'],
      `router bgp 65001
        bgp router-id 10.98.2.1
        no bgp ebgp-requires-policy
        neighbor 10.98.2.10 remote-as 65000`,
    );
    const gapsOf = await captureGaps(line.right, port);
    const answer = await runScenario({ ...line, remove() {} }, scenario);
    const gaps = await gapsOf();
    expect(await frr.show('show bgp summary json')).toContain('10.98.2.10');
    expect(answer).toMatchObject({ status: 7, commands: [{ agents: 1, reason: '' }], events: 2, flowsDown: 0 });
    const missing = faults.read('arrived') - faults.read('forwarded');
    expect(missing).toBeGreaterThan(100);
    expect(answer.lost).toBe(missing);
    expect(answer.flows).toHaveLength(10);
    for (const { cells, state } of answer.flows) {
      expect(state).toBe('up');
      expect(cells).toMatchObject({ event: 'announce', interruptions: 1 });
      expectAsSeen(cells, gaps);
      expect(cells.controlToDataPlaneUs).toBeGreaterThan(0);
      expect(cells.controlToDataPlaneUs).toBeLessThan(cells.lastUs);
    }
  });
});
