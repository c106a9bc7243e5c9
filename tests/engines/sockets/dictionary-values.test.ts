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
