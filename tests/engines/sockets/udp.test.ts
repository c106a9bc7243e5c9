import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';

takePriority();

const listenOn = (port: number) => [{ host: '127.0.0.1', port }];
const client = (port: number, more: object) => ({ role: 'client', targets: listenOn(port), ...more });
const forwarders: Socket[] = [];
afterEach(() => {
  for (const socket of forwarders.splice(0)) socket.close();
});

type Treatment = (index: number, forward: (delayMs: number) => void) => void;

/** A UDP proxy that applies the impairments of a test. */
const startForwarder = async (to: number, treat: Treatment): Promise<number> => {
  const socket = createSocket('udp4');
  forwarders.push(socket);
  let index = 0;
  socket.on('message', (bytes: Buffer, _from: RemoteInfo) => {
    treat(index++, (delayMs) => {
      const dueAt = performance.now() + delayMs;
      const wait = () => {
        if (performance.now() < dueAt - 2) setTimeout(wait, dueAt - 1 - performance.now());
        else if (performance.now() < dueAt) setImmediate(wait);
        else socket.send(bytes, to, '127.0.0.1');
      };
      wait();
    });
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return (socket.address() as AddressInfo).port;
};

const through = async (treat: Treatment, rate: number, seconds: number) => {
  const port = await freePort();
  const server = await startServer('udp', { listen: listenOn(port) });
  const forwarder = await startForwarder(port, treat);
  const sent = await runJob({ engine: 'udp', config: client(forwarder, { load: { rate } }), duration: { seconds } });
  await sleep(150);
  return { sent, received: await server.stop() };
};

describe('udp engine', () => {
  it('says how many of its source addresses it uses', async () => {
    const port = await freePort();
    const server = await startServer('udp', { listen: listenOn(port) });
    const config = client(port, { load: { rate: 10 }, flows: 2, sources: { networks: ['127.1.0.0/29'] } });
    const { outcome } = await runJob({ engine: 'udp', config, duration: { seconds: 0.2 } });
    await server.stop();
    expect(outcome.notes).toEqual([expect.stringMatching(/^2 of \d+ source addresses are used, one for each flow$/)]);
  });

  it('waits at the end for packets that the path still holds', async () => {
    const { sent, received } = await through((_, forward) => forward(400), 200, 1);
    expect(sent.counter('udp.sent')).toBe(200);
    expect(received.counter('udp.received')).toBe(200);
  });

  it('counts sent and received packets on a clean path', async () => {
    const { sent, received } = await through((_, forward) => forward(0), 500, 1);
    expect(sent.counter('udp.sent')).toBe(500);
    expect(received.counter('udp.received')).toBe(500);
    for (const name of ['udp.lost', 'udp.duplicates', 'udp.reordered', 'udp.packetLossDurationMs']) {
      expect(received.counter(name)).toBe(0);
    }
  });

  it('measures an added delay of 20 ms to the millisecond', { retry: 2 }, async () => {
    const { received } = await through((_, forward) => forward(20), 100, 1.5);
    const latency = received.histogram('udp.latency');
    // The fastest packet met no other work; none is faster than the delay.
    expect(Math.abs(latency.min / 1000 - 20)).toBeLessThan(1);
    expect(latency.count).toBe(150);
  });

  it('counts duplicates and reordered packets exactly', async () => {
    const duplicated = await through(
      (index, forward) => {
        forward(0);
        if (index % 10 === 3) forward(0);
      },
      500,
      1,
    );
    expect(duplicated.received.counter('udp.duplicates')).toBe(50);
    expect(duplicated.received.counter('udp.received')).toBe(500);
    // Every twentieth packet is held until its successor has passed.
    let held: ((delayMs: number) => void) | undefined;
    const swapped = await through(
      (index, forward) => {
        if (index % 20 === 5) held = forward;
        else {
          forward(0);
          held?.(0);
          held = undefined;
        }
      },
      500,
      1,
    );
    expect(swapped.received.counter('udp.reordered')).toBe(25);
    expect(swapped.received.counter('udp.lost')).toBe(0);
    expect(swapped.received.counter('udp.received')).toBe(500);
  });

  it('measures the duration of an outage', async () => {
    const { received } = await through(
      (index, forward) => {
        if (index < 200 || index >= 320) forward(0);
      },
      400,
      1,
    );
    expect(received.counter('udp.lost')).toBe(120);
    // Packets are 2.5 ms apart, or a little more on a busy processor.
    expect(Math.abs(received.counter('udp.packetLossDurationMs') - 300)).toBeLessThan(60);
  });

  it('measures jitter', async () => {
    const still = await through((_, forward) => forward(0), 200, 1);
    const shaky = await through((index, forward) => forward(index % 2 === 0 ? 0 : 10), 40, 2);
    // Transit alternates by 10 ms, so the estimate settles near 10 ms.
    expect(shaky.received.histogram('udp.jitter').quantile(1) / 1000).toBeGreaterThan(8);
    expect(still.received.histogram('udp.jitter').quantile(0.5) / 1000).toBeLessThan(3);
  });

  it('gets its packets back from an echoing server', async () => {
    const port = await freePort();
    const server = await startServer('udp', { listen: listenOn(port), echoes: true });
    const config = client(port, {
      flows: 5,
      load: { rate: 1000 },
      payloadBytes: 500,
      expectsEcho: true,
      lingerMs: 200,
    });
    const run = await runJob({ engine: 'udp', config, duration: { mode: 'count', count: 700 } });
    const served = await server.stop();
    expect(run.counter('udp.sent')).toBe(700);
    expect(run.counter('udp.received')).toBe(700);
    expect(served.gauge('udp.flows')).toBe(5);
    expect(run.histogram('udp.rtt').count).toBe(700);
  });

  it('sends as fast as it can, and still ends in time', async () => {
    const port = await freePort();
    const server = await startServer('udp', { listen: listenOn(port) });
    const begin = performance.now();
    const run = await runJob({ engine: 'udp', config: client(port, { flows: 2 }), duration: { seconds: 0.5 } });
    expect(performance.now() - begin).toBeLessThan(3000);
    // The receiver reads its buffer first.
    await sleep(500);
    const served = await server.stop();
    expect(run.counter('udp.sent')).toBeGreaterThan(1000);
    // Receiver drops are counted as such, not as network loss.
    expect(served.counter('udp.received') + served.counter('udp.bufferDrops')).toBe(run.counter('udp.sent'));
  });

  it('reports a closed port', async () => {
    const config = client(await freePort(), { load: { rate: 100 } });
    const run = await runJob({ engine: 'udp', config, duration: { seconds: 0.5 } });
    expect(run.outcome.status).toBe('finished');
    expect(run.counter('udp.errors.refused')).toBeGreaterThan(0);
  });
});

describe('stateless server', () => {
  const ask = async (config: object, messages: readonly string[]) => {
    const port = await freePort();
    const server = await startServer('stateless-server', { listen: listenOn(port), ...config });
    const socket = createSocket('udp4');
    const answers: string[] = [];
    socket.on('message', (bytes) => answers.push(bytes.toString()));
    for (const message of messages) socket.send(message, port, '127.0.0.1');
    await sleep(150);
    socket.close();
    return { answers, served: await server.stop() };
  };

  it('echoes, discards, replies and generates characters', async () => {
    expect((await ask({ mode: 'echo' }, ['a', 'bc'])).answers).toEqual(['a', 'bc']);
    const discard = await ask({ mode: 'discard' }, ['a', 'b']);
    expect(discard.answers).toEqual([]);
    expect(discard.served.counter('stateless-server.received')).toBe(2);
    const reply = await ask({ mode: 'reply', reply: { type: 'text', data: 'pong' } }, ['ping']);
    expect(reply.answers).toEqual(['pong']);
    const chargen = await ask({ mode: 'chargen' }, Array(20).fill('x'));
    expect(chargen.answers).toHaveLength(20);
    expect(Math.max(...chargen.answers.map((answer) => answer.length))).toBeLessThanOrEqual(512);
    expect(chargen.answers.every((answer) => ' !"#$%'.startsWith(answer.slice(0, 6)))).toBe(true);
  });

  it('drops packets above the rate', async () => {
    const { answers, served } = await ask({ mode: 'echo', maxRate: 5 }, Array(20).fill('x'));
    expect(answers.length).toBeGreaterThanOrEqual(5);
    expect(answers.length).toBeLessThanOrEqual(10);
    expect(served.counter('stateless-server.dropped')).toBe(20 - answers.length);
    expect(served.gauge('stateless-server.peers')).toBe(1);
  });

  it('echoes TCP to the tcp engine', async () => {
    const port = await freePort();
    const server = await startServer('stateless-server', { listen: listenOn(port), protocol: 'tcp' });
    const config = client(port, { mode: 'echo', connections: 2, messagesPerSecond: 20, payload: { size: 100 } });
    const run = await runJob({ engine: 'tcp', config, duration: { seconds: 0.5 } });
    await server.stop();
    expect(run.histogram('tcp.echo').count).toBeGreaterThanOrEqual(18);
  });
});
