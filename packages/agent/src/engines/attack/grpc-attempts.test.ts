import { once } from 'node:events';
import { connect, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Attempt } from '@rushhour/protocol';
import { grpcFrames } from '@rushhour/wire';
import { expect, it } from 'vitest';
import { freePort } from '../../../../../tests/process/free-port.ts';
import { attemptOf, runBothEnds } from './testing/two-ends.ts';

const method = '/shop.Search/Find';
const contentType = { name: 'Content-Type', value: 'application/grpc' };
const framed = (bytes: Uint8Array) => ({ data: Buffer.from(grpcFrames([bytes])).toString('base64') });

const call = (id: number, text: string): Attempt =>
  attemptOf(id, {
    service: 'http',
    exchange: {
      protocol: 'http',
      steps: [
        {
          request: {
            ...{ method: 'POST', path: method, version: '2' },
            headers: [contentType, { name: 'TE', value: 'trailers' }],
            body: framed(Buffer.concat([Buffer.from([0x0a, text.length]), Buffer.from(text)])),
          },
          answer: {
            ...{ mode: 'canned', status: 200, headers: [contentType], body: framed(new Uint8Array(0)) },
            trailers: [{ name: 'grpc-status', value: '0' }],
          },
        },
      ],
    },
  });

/** A gateway that takes nothing but calls, and refuses those with a word as gRPC does. */
const gatewayBefore = async (port: number, word: string) => {
  const seen: string[] = [];
  const server = createServer();
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => {
      seen.push(`${headers[':method']} ${headers[':path']}`);
      if (headers['content-type'] !== 'application/grpc') stream.respond({ ':status': 415 }, { endStream: true });
      else if (Buffer.concat(parts).includes(word)) {
        const refusal = { 'grpc-status': '7', 'grpc-message': 'not allowed' };
        stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...refusal }, { endStream: true });
      } else pass(stream, headers, Buffer.concat(parts), port);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, seen, close: () => server.close() };
};

const pass = (stream: ServerHttp2Stream, headers: object, body: Buffer, port: number) => {
  const inside = connect(`http://127.0.0.1:${port}`);
  const request = inside.request({ ...headers });
  let trailers: object = {};
  request.on('response', (answer) => stream.respond({ ...answer }, { waitForTrailers: true }));
  request.on('trailers', (fields) => {
    trailers = fields;
  });
  request.on('data', (part: Buffer) => stream.write(part));
  request.on('end', () => stream.end());
  stream.on('wantTrailers', () => stream.sendTrailers({ ...trailers }));
  stream.on('close', () => inside.close());
  request.end(body);
};

it('gRPC calls are proven by calls, answered with a status, and judged by it', async () => {
  const port = await freePort();
  const gateway = await gatewayBefore(port, 'DROP');
  const http = { host: '127.0.0.1', service: 'http', protocol: 'http' };
  const both = await runBothEnds({
    attempts: [call(0, 'tea'), call(1, "'; DROP TABLE a"), call(2, 'x'.repeat(90))],
    targets: [{ ...http, port: gateway.port }],
    listen: [{ ...http, port }],
    client: { control: { version: '2', grpcPath: method } },
  });
  gateway.close();
  expect(both.controls.length).toBeGreaterThan(0);
  expect(both.controls.every(({ isGood }) => isGood)).toBe(true);
  expect(new Set(gateway.seen)).toEqual(new Set([`POST ${method}`]));
  const [tea, drop, long] = both.clients;
  for (const passed of [tea, long]) {
    const server = both.servers.find(({ attempt }) => attempt === passed?.attempt);
    expect(passed).toMatchObject({ end: 'response', status: 200, responseIsOurs: true });
    expect(passed?.changes).toBeUndefined();
    expect(server).toMatchObject({ seen: 'full', rxSha256: passed?.sentSha256, sentSha256: passed?.rxSha256 });
  }
  expect(drop).toMatchObject({ end: 'response', status: 200, responseIsOurs: false });
  expect(Buffer.from(drop?.excerpt ?? '', 'base64').toString()).toContain('grpc-status: 7\ngrpc-message: not allowed');
  expect(both.servers.some(({ attempt }) => attempt === 1)).toBe(false);
});

it('a status that the path has changed is a change of the answer', async () => {
  const port = await freePort();
  const device = createServer();
  device.on('stream', (stream: ServerHttp2Stream, headers) => {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => {
      const inside = connect(`http://127.0.0.1:${port}`);
      const request = inside.request({ ...headers });
      request.on('response', (answer) => stream.respond({ ...answer }, { waitForTrailers: true }));
      request.on('data', (part: Buffer) => stream.write(part));
      request.on('end', () => stream.end());
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '13' }));
      stream.on('close', () => inside.close());
      request.end(Buffer.concat(parts));
    });
  });
  device.listen(0, '127.0.0.1');
  await once(device, 'listening');
  const http = { host: '127.0.0.1', service: 'http', protocol: 'http' };
  const both = await runBothEnds({
    attempts: [call(0, 'tea')],
    targets: [{ ...http, port: (device.address() as AddressInfo).port }],
    listen: [{ ...http, port }],
    client: { control: { version: '2', grpcPath: method } },
  });
  device.close();
  expect(both.clients[0]?.changes).toEqual([
    { part: 'response header', kind: 'changed', detail: 'grpc-status: 0 → 13' },
  ]);
});
