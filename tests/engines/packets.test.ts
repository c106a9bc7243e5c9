import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Cable, createCable, deviceCounter, runOrderIn, startOrderIn } from './namespaces.ts';
import { takePriority } from './priority.ts';

takePriority();

let cable: Cable;
beforeEach(() => {
  cable = createCable();
  // Nothing but what is tested: no neighbour discovery of IPv6 by the system itself.
  for (const side of [cable.left, cable.right]) side.run('ip', 'link', 'set', side.device, 'addrgenmode', 'none');
});
afterEach(() => cable.remove());

const port = 15_009;
const receiver = (more: object = {}) => ({
  engine: 'stream',
  config: { role: 'server', listen: [{ host: '10.99.0.2', port }], ...more },
  duration: { mode: 'continuous' as const },
});
const sender = (config: object = {}, seconds = 1) => ({
  engine: 'stream',
  config: { role: 'client', targets: [{ host: '10.99.0.2', port }], ...config },
  duration: { seconds },
});

/** Both sides of one stream. */
const exchange = async (config: object = {}, more: object = {}) => {
  const server = await startOrderIn(cable.right, receiver(more));
  const sent = await runOrderIn(cable.left, sender(config));
  return { sent, received: await server.stop() };
};

describe('streams over a cable', () => {
  it('arrive as often as they were sent and as the interfaces count', async () => {
    const before = deviceCounter(cable.right, 'rx_packets');
    const { sent, received } = await exchange({ streams: 5, load: { rate: 10_000 } });
    expect(sent.outcome).toMatchObject({ status: 'finished', notes: [] });
    expect(sent.counter('stream.sent') + sent.counter('stream.dropped')).toBe(10_000);
    expect(received.counter('stream.received')).toBe(sent.counter('stream.sent'));
    expect(received.counter('stream.rxBytes')).toBe(sent.counter('stream.sent') * 60);
    expect(received.counter('stream.lost') + received.counter('stream.sequenceErrors')).toBe(0);
    expect(received.gauge('stream.streams')).toBe(5);
    // Asking for the neighbour costs a frame or two more.
    const arrived = deviceCounter(cable.right, 'rx_packets') - before;
    expect(arrived - sent.counter('stream.sent')).toBeLessThan(10);
    expect(arrived).toBeGreaterThanOrEqual(sent.counter('stream.sent'));
    expect(received.histogram('stream.latency').quantile(0.5)).toBeLessThan(5000);
  });
});
