import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';
import { execute } from '../programs.ts';
import { closeServersAfterEach, dataPaths, serve } from './data-paths.ts';

takePriority();
closeServersAfterEach();

const target = (port: number) => [{ host: '127.0.0.1', port }];

/** Everything a peer sends until it closes, and whether it closed by a reset. */
const talk = async (port: number, text: string, endsAtOnce = false): Promise<{ heard: string; isReset: boolean }> => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let heard = '';
  let isReset = false;
  socket.on('data', (bytes) => {
    heard += bytes.toString('latin1');
  });
  socket.on('error', () => {
    isReset = true;
  });
  socket.on('end', () => socket.end());
  socket.write(text);
  if (endsAtOnce) socket.end();
  await new Promise((resolve) => socket.on('close', resolve));
  return { heard, isReset };
};

describe.each(dataPaths)('http server over %s', (dataPath) => {
  const started = async (more: object) => {
    const port = await freePort();
    return { port, server: await startServer('http', { listen: [{ host: '127.0.0.1', port }], dataPath, ...more }) };
  };

  it('answers a half-closed client, and pipelined requests in order', async () => {
    const { port, server } = await started({
      responses: [{ body: { type: 'text', data: 'one' } }, { body: { type: 'text', data: 'two' } }],
    });
    const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    const { heard } = await talk(port, request.repeat(3), true);
    expect(heard.match(/one|two/g)).toEqual(['one', 'two', 'one']);
    const refused = await talk(port, 'nonsense\r\n\r\n');
    expect(refused.heard).toContain('400 Bad Request');
    const totals = await server.stop();
    expect([totals.counter('http.served'), totals.counter('http.errors.protocol')]).toEqual([3, 1]);
    expect(totals.gauge('http.concurrent')).toBe(0);
  });

  it('sends large answers completely to a curl that reads slowly', async () => {
    const { port, server } = await started({ responses: [{ body: { type: 'zero', size: 12_000_000 } }] });
    const url = `http://127.0.0.1:${port}/`;
    const { stdout } = await execute('sh', ['-c', `curl -s --limit-rate 30M ${url} | wc -c`]);
    expect(Number(stdout)).toBe(12_000_000);
    await server.stop();
  });

  it('closes idle connections, and those of clients that ask for it', async () => {
    const { port, server } = await started({ keepAlive: { idleMs: 100, maxRequests: 2 } });
    const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
    expect((await talk(port, request)).heard).toContain('keep-alive');
    expect((await talk(port, request.repeat(2))).heard.match(/Connection: (\S+)/g)).toEqual([
      'Connection: keep-alive',
      'Connection: close',
    ]);
    await server.stop();
  });
});

describe.each(dataPaths)('tcp over %s', (dataPath) => {
  it('delivers every byte to the sink and back from the echo', async () => {
    const [sinkPort, echoPort] = [await freePort(), await freePort()];
    const sink = await startServer('tcp', { listen: target(sinkPort), dataPath });
    const sent = await runJob({
      engine: 'tcp',
      config: { role: 'client', targets: target(sinkPort), connections: 3, mode: 'send', dataPath },
      duration: { seconds: 0.4 },
    });
    const sunk = await sink.stop();
    expect(sent.outcome.status).toBe('finished');
    expect(sent.counter('tcp.txBytes')).toBeGreaterThan(10_000_000);
    expect(sunk.counter('tcp.rxBytes')).toBeGreaterThanOrEqual(sent.counter('tcp.txBytes'));
    const echo = await startServer('tcp', { listen: target(echoPort), mode: 'echo', dataPath });
    const text = 'there and back, '.repeat(20_000);
    const heard = connect({ port: echoPort, host: '127.0.0.1' }).setEncoding('latin1');
    let back = '';
    heard.on('data', (part) => {
      back += part;
    });
    heard.end(text);
    await once(heard, 'close');
    expect(back === text).toBe(true);
    const payload = { type: 'random', size: 100_000 };
    const config = { role: 'client', targets: target(echoPort), connections: 2, mode: 'echo', payload, dataPath };
    const echoed = await runJob({ engine: 'tcp', config, duration: { seconds: 0.4 } });
    await echo.stop();
    expect(echoed.histogram('tcp.echo').count).toBeGreaterThan(10);
    expect(echoed.counter('tcp.rxBytes') % 1).toBe(0);
  });

  it('closes by FIN or RST as configured, and counts connections as the server does', async () => {
    for (const closeMode of ['fin', 'rst']) {
      let [accepted, fins] = [0, 0];
      const port = await serve((socket) => {
        accepted++;
        socket.resume();
        socket.on('end', () => {
          fins++;
          socket.end();
        });
      });
      const config = { role: 'client', targets: target(port), connections: 5, totalSessions: 60, closeMode, dataPath };
      const run = await runJob({ engine: 'tcp', config, duration: { mode: 'continuous' } });
      expect(run.counter('tcp.established')).toBe(60);
      await expect.poll(() => accepted).toBe(60);
      await expect.poll(() => fins).toBe(closeMode === 'fin' ? 60 : 0);
    }
    const refused = { role: 'client', targets: target(await freePort()), connections: 2, dataPath };
    const run = await runJob({ engine: 'tcp', config: refused, duration: { seconds: 0.3 } });
    // A connection in flight at the end has not failed.
    expect(run.counter('tcp.errors.refused')).toBeGreaterThanOrEqual(run.counter('tcp.attempted') - 2);
    expect(run.counter('tcp.failed')).toBeGreaterThan(0);
  });

  it('resets half-closed clients when configured', async () => {
    const port = await freePort();
    const server = await startServer('tcp', { listen: target(port), closeMode: 'rst', dataPath });
    expect((await talk(port, 'hello', true)).isReset).toBe(true);
    expect((await server.stop()).counter('tcp.rxBytes')).toBe(5);
  });
});

describe.each(['epoll', 'node'] as const)('udp and dns over %s', (dataPath) => {
  it('loses nothing at a sustainable rate, one way and round trip', async () => {
    const port = await freePort();
    const server = await startServer('udp', { listen: target(port), echoes: true, dataPath });
    const config = {
      role: 'client',
      targets: target(port),
      flows: 3,
      load: { rate: 3000 },
      expectsEcho: true,
      dataPath,
    };
    const run = await runJob({
      engine: 'udp',
      config: { ...config, payloadBytes: 1200, lingerMs: 200 },
      duration: { seconds: 0.5 },
    });
    const served = await server.stop();
    expect(run.counter('udp.sent')).toBe(1500);
    expect(run.counter('udp.received')).toBe(1500);
    expect([served.counter('udp.received'), served.counter('udp.sent')]).toEqual([1500, 1500]);
    expect([run.counter('udp.lost'), run.counter('udp.reordered'), run.counter('udp.duplicates')]).toEqual([0, 0, 0]);
    expect(served.gauge('udp.flows')).toBe(3);
    expect(run.histogram('udp.rtt').count).toBe(1500);
  });

  it('counts packets to a closed port', async () => {
    const config = { role: 'client', targets: target(await freePort()), load: { rate: 200 }, dataPath };
    const run = await runJob({ engine: 'udp', config, duration: { seconds: 0.4 } });
    expect(run.counter('udp.errors.refused')).toBeGreaterThan(0);
    expect(run.outcome.status).toBe('finished');
  });

  it('sends and answers the configured number of queries, delayed or not, from many sockets', async () => {
    for (const delayMs of [0, 20]) {
      const port = await freePort();
      const listen = [{ host: '127.0.0.1', port, transport: 'udp' }];
      const answers = [{ name: 'a.test', type: 'A', data: '192.0.2.1' }];
      const server = await startServer('dns', { listen, answers, delayMs, dataPath });
      const names = ['a.test', 'none.test'];
      const config = { role: 'client', targets: target(port), names, sockets: 7, concurrency: 50, dataPath };
      const run = await runJob({ engine: 'dns', config, duration: { mode: 'count', count: 900 } });
      const served = await server.stop();
      expect(run.counter('dns.rcode.NOERROR')).toBe(450);
      expect(run.counter('dns.rcode.NXDOMAIN')).toBe(450);
      expect([served.counter('dns.received'), served.counter('dns.answered')]).toEqual([900, 900]);
      expect(run.histogram('dns.service').min >= delayMs * 900).toBe(true);
    }
  });

  it('ignores late and duplicate answers', async () => {
    const twice = createSocket('udp4');
    twice.on('message', (message, from) => {
      message.writeUInt16BE(0x8180, 2);
      twice.send(message, from.port, from.address);
      twice.send(message, from.port, from.address);
    });
    twice.bind(0, '127.0.0.1');
    await once(twice, 'listening');
    const config = { role: 'client', targets: target(twice.address().port), names: ['a.test'], sockets: 1, dataPath };
    const run = await runJob({
      engine: 'dns',
      config: { ...config, concurrency: 1, load: { rate: 100 } },
      duration: { mode: 'count', count: 20 },
    });
    twice.close();
    expect(run.counter('dns.answers')).toBe(20);
    expect(run.counter('dns.late')).toBeGreaterThanOrEqual(19);
  });
});
