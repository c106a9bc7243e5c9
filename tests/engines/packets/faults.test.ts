import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { deviceCounter, runJobIn, type Side, startJobIn } from '../namespaces.ts';
import { requireProgram } from '../programs.ts';
import { useCable } from '../use-cable.ts';
import { port, receiver, sender as stream } from './stream-jobs.ts';

const cable = useCable('test');

const sender = (config: object = {}, seconds = 1) => stream({ load: { rate: 500 }, ...config }, seconds);

const macOf = (side: Side) => side.run('cat', `/sys/class/net/${side.device}/address`).trim();
const ownRoutes = (side: Side) => side.run('ip', 'route', 'show', 'table', 'local', 'proto', '213').trim();
const arrivals = async (side: Side, count: number) => {
  while (deviceCounter(side, 'rx_packets') < count) await sleep(50);
};

/** Sends frames with false length fields and tags. */
const throwGarbage = (count: number) => {
  const script = fileURLToPath(new URL('garbage.ts', import.meta.url));
  cable.left.run(process.execPath, script, cable.left.device, macOf(cable.right), String(count));
};

describe('a receiver', () => {
  it.each([false, true])(
    'counts valid frames among frames with false lengths and tags (trials: %s)',
    async (countsTrials) => {
      const server = await startJobIn(cable.right, receiver({ countsTrials }));
      throwGarbage(3000);
      const plan = { frameSizes: [128], tests: ['throughput'], trialSec: 1, settleSec: 0.1, resolutionPct: 1 };
      const rfc2544 = { ...plan, acceptableLossPct: 0, burstSec: 1, burstRepeats: 1 };
      const sent = await runJobIn(cable.left, sender(countsTrials ? { rfc2544 } : {}, 30 * Number(countsTrials) || 1));
      const received = await server.stop();
      expect(sent.outcome.status).toBe('finished');
      expect(sent.counter('stream.sent')).toBeGreaterThan(400);
      expect(received.outcome).toMatchObject({ status: 'stopped', notes: [] });
      // Some garbage frames have no valid address and count as frames of unknown senders.
      expect(received.counter('stream.received')).toBeGreaterThanOrEqual(sent.counter('stream.sent'));
    },
  );

  it('finds frames behind four tags', async () => {
    const vlan = [{ id: 1, type: 0x88a8 }, { id: 2, type: 0x9100 }, { id: 3 }, { id: 4 }];
    const server = await startJobIn(cable.right, receiver());
    const sizes = { mix: [{ frameSize: 128, weight: 1 }] };
    const sent = await runJobIn(cable.left, sender({ headers: { vlan }, sizes }));
    const received = await server.stop();
    expect(received.counter('stream.received')).toBe(sent.counter('stream.sent'));
    expect(received.counter('stream.rxBytes')).toBe(sent.counter('stream.txBytes'));
    expect(received.counter('stream.misdirected')).toBe(0);
  });
});

describe('a job that cannot run gives the reason', () => {
  it('when there is no such interface', async () => {
    await expect(runJobIn(cable.left, sender({ interface: 'nope0' }))).rejects.toThrow(/nope0/);
  });

  it('when frames exceed the MTU or are shorter than their headers', async () => {
    const sized = (frameSize: number, more: object = {}) =>
      sender({ sizes: { mix: [{ frameSize, weight: 1 }] }, ...more });
    await expect(runJobIn(cable.left, sized(1519))).rejects.toThrow('1519 bytes exceed the MTU 1500 of l0');
    const headers = { vlan: [{ id: 1 }, { id: 2 }] };
    await expect(runJobIn(cable.left, sized(64, { headers }))).rejects.toThrow('need frames of at least 72 bytes');
  });

  it.each(['stream', 'icmp'])('when %s lacks CAP_NET_RAW', async (engine) => {
    requireProgram('setpriv');
    const weak = ['setpriv', '--bounding-set=-net_raw', '--inh-caps=-net_raw'];
    const { config } = sender();
    const client = engine === 'stream' ? config : { role: 'client', targets: [{ host: '10.99.0.2', port: 1 }] };
    const job = await startJobIn(cable.left, { engine, config: client, duration: { seconds: 1 } }, weak);
    await expect(job.totals).rejects.toThrow(/cannot run here: .*cap_net_raw/);
  });
});

describe('an interface that fails during a run', () => {
  it('releases every claimed address', async () => {
    const listen = [{ host: '10.99.0.77', port }];
    const job = { ...receiver({ listen }), claims: ['10.99.0.77'] };
    const server = await startJobIn(cable.right, job);
    expect(ownRoutes(cable.right)).toContain('10.99.0.77');
    const client = await startJobIn(cable.left, sender({ targets: listen }, 30));
    await arrivals(cable.right, 100);
    cable.left.run('ip', 'link', 'delete', cable.left.device);
    await expect(client.totals).rejects.toThrow('interface l0 no longer exists');
    await expect(server.totals).rejects.toThrow('interface r0 no longer exists');
    expect(ownRoutes(cable.right)).toBe('');
  });

  it('leaves echoes unanswered, which are counted', async () => {
    const targets = [{ host: '10.99.0.2', port: 1 }];
    const job = {
      engine: 'icmp',
      config: { role: 'client', targets, load: { rate: 100 } },
      duration: { seconds: 3 },
    };
    const client = await startJobIn(cable.left, job);
    await arrivals(cable.right, 20);
    cable.left.run('ip', 'link', 'delete', cable.left.device);
    const totals = await client.totals;
    expect(totals.outcome.status).toBe('finished');
    expect(totals.counter('icmp.received')).toBeGreaterThan(10);
    const failed = totals.counter('icmp.lost') + totals.counter('icmp.errors.unreachable');
    expect(failed).toBeGreaterThan(50);
  });
});
