import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUploads } from './upload.ts';

const uploads = createUploads({ windowMs: 600, minBytes: 1000 });
const outcomes: Promise<unknown>[] = [];
const server = createServer((raw, response) => {
  const request = { raw, socket: raw.socket, caller: { userId: Number(raw.headers['x-user']) } };
  const outcome = uploads.admit(request as unknown as FastifyRequest, async () => {
    for await (const _ of raw);
    return 'complete';
  });
  outcomes.push(outcome.catch((error) => error.code));
  outcome.then(
    () => response.end('complete'),
    () => response.writeHead(429).end(),
  );
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A client that sends so many bytes every 50 ms. */
const send = (user: number, bytes: number, total: number) => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nX-User: ${user}\r\nContent-Length: ${total}\r\n\r\n`);
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < total) socket.write('x'.repeat(Math.min(bytes, total - sent)));
    sent += bytes;
  }, 50);
  const ended = new Promise<void>((resolve) => socket.once('close', resolve));
  void ended.then(() => clearInterval(timer));
  const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString().slice(9, 12))));
  return { socket, ended, answer };
};

it('a client that drips loses its connection; one that keeps the pace does not', async () => {
  const steady = send(1, 2000, 40_000);
  const slow = send(2, 1, 1_000_000);
  await slow.ended;
  expect(await steady.answer).toBe('200');
  steady.socket.destroy();
  expect(await Promise.all(outcomes.splice(0))).toEqual(expect.arrayContaining(['complete', 'INVALID_REQUEST']));
});

it('one user cannot take the slots of all', async () => {
  const greedy = Array.from({ length: 4 }, () => send(3, 500, 1_000_000));
  await expect.poll(() => outcomes.length).toBe(4);
  expect(await send(3, 500, 1000).answer).toBe('429');
  expect(await send(4, 500, 1000).answer).toBe('200');
  for (const { socket } of greedy) socket.destroy();
});
