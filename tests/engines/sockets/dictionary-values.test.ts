import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer, get } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { runJob, startServer } from '../job.ts';
import { takePriority } from '../priority.ts';

takePriority();

const values = ['one', 'zwei', 'três', ''];
const payload = { type: 'values', values };

const people = {
  ...{ id: 1, type: 'table', selection: 'unique', columns: ['name', 'city'] },
  rows: Array.from({ length: 40 }, (_, i) => [`user${i}`, `city${i}`] as const),
};

const portOf = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
const run = (engine: string, port: number, config: object) =>
  runJob({
    engine,
    config: { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 1, ...config },
    duration: { mode: 'count', count: 8 },
  });
const askFor = async (port: number): Promise<string> => {
  const [reply] = await once(get({ host: '127.0.0.1', port, agent: false }), 'response');
  return text(reply);
};

describe('values of a dictionary', () => {
  it.each(['1.1', '2'])('are the bodies of HTTP/%s requests, one each', async (version) => {
    const bodies: string[] = [];
    const onRequest = async (request: AsyncIterable<Buffer>, reply: { end(): void }) => {
      bodies.push((await buffer(request)).toString());
      reply.end();
    };
    const server = version === '2' ? createHttp2Server(onRequest) : createHttpServer(onRequest);
    const port = await portOf(server as Server);
    await run('http', port, { version, method: 'POST', body: payload, pipelining: 1, maxStreams: 1 });
    server.close();
    expect(bodies).toEqual([...values, ...values]);
  });

  it('are the bodies of answers, one each', async () => {
    const port = await freePort();
    const server = await startServer('http', {
      listen: [{ host: '127.0.0.1', port }],
      responses: [{ body: { type: 'values', values: ['a', 'bb'] } }],
    });
    const got = [await askFor(port), await askFor(port), await askFor(port)];
    await server.stop();
    expect(got).toEqual(['a', 'bb', 'a']);
  });

  it('are the messages of TCP connections, one each', async () => {
    const received: string[] = [];
    const server = createServer((socket) =>
      socket.on('data', (bytes: Buffer) => {
        received.push(bytes.toString());
        socket.write(bytes);
      }),
    );
    const port = await portOf(server);
    const config = { targets: [{ host: '127.0.0.1', port }], connections: 1, mode: 'echo', payload };
    const totals = await runJob({ engine: 'tcp', config: { role: 'client', ...config }, duration: { seconds: 0.5 } });
    server.close();
    // Empty values are no messages.
    const messages = values.slice(0, 3);
    expect(received.length).toBe(totals.counter('tcp.messages'));
    expect(received.slice(0, 6)).toEqual([...messages, ...messages]);
    expect(totals.counter('tcp.txBytes')).toBe(Buffer.byteLength(received.join('')));
  });

  it('are drawn for every message of TCP connections as the dictionary says, each once, and end with it', async () => {
    const received: string[] = [];
    const server = createServer((socket) =>
      socket.on('data', (bytes: Buffer) => {
        received.push(bytes.toString());
        socket.write(bytes);
      }),
    );
    const port = await portOf(server);
    const drawn = { dictionary: people, text: '{{city}}/{{name}} {{$user}}', seed: 's', users: 4 };
    const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], connections: 4, mode: 'echo', drawn };
    const totals = await runJob({ engine: 'tcp', config, duration: { seconds: 60 }, cpuCores: 2 });
    server.close();
    expect(totals.outcome.status).toBe('finished');
    const sent = people.rows.map(([name, city]) => `${city}/${name}`);
    expect(received.map((text) => text.split(' ')[0]).toSorted()).toEqual(sent.toSorted());
    expect(new Set(received.map((text) => text.split(' ')[1]))).toEqual(new Set(['0', '1', '2', '3']));
    expect(totals.counter('tcp.messages')).toBe(people.rows.length);
  });

  it('are drawn for every UDP packet, after its number and time', async () => {
    const received: Buffer[] = [];
    const socket = createSocket('udp4').on('message', (bytes) => received.push(bytes));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const drawn = { dictionary: people, text: '', users: 2 };
    const target = { host: '127.0.0.1', port: socket.address().port };
    const config = { role: 'client', targets: [target], flows: 2, payloadBytes: 40, load: { rate: 1000 }, drawn };
    const totals = await runJob({ engine: 'udp', config, duration: { seconds: 60 } });
    socket.close();
    expect(totals.outcome.status).toBe('finished');
    const texts = received.map((bytes) => bytes.subarray(24).toString().replace(/\0+$/, ''));
    expect(texts.toSorted()).toEqual(people.rows.map(([name]) => name).toSorted());
    expect(received.every(({ length }) => length === 40)).toBe(true);
  });

  it('are drawn for every query of DNS; names that are not valid are left out', async () => {
    const port = await freePort();
    const listen = [{ host: '127.0.0.1', port, transport: 'udp' }];
    const answers = [{ name: '*', type: 'A', data: '192.0.2.1' }];
    const server = await startServer('dns', { listen, answers });
    const rows = [...Array.from({ length: 50 }, (_, i) => [`host${i}.test`]), ['a..b'], ['']];
    const dictionary = { id: 1, type: 'table', selection: 'unique', columns: ['name'], rows };
    const config = { role: 'client', targets: [{ host: '127.0.0.1', port }], drawn: { dictionary } };
    const totals = await runJob({ engine: 'dns', config, duration: { seconds: 60 } });
    await server.stop();
    expect(totals.outcome.status).toBe('finished');
    expect(totals.counter('dns.queries')).toBe(50);
    expect(totals.counter('dns.rcode.NOERROR')).toBe(50);
  });

  it('are the replies of a stateless server, one each', async () => {
    const port = await freePort();
    const config = { listen: [{ host: '127.0.0.1', port }], mode: 'reply', reply: payload };
    const server = await startServer('stateless-server', config);
    const socket = createSocket('udp4');
    const replies: string[] = [];
    for (let count = 0; count < 5; count++) {
      socket.send('?', port, '127.0.0.1');
      const [bytes] = (await once(socket, 'message')) as [Buffer];
      replies.push(bytes.toString());
    }
    socket.close();
    await server.stop();
    expect(replies).toEqual([...values, values[0]]);
  });
});
