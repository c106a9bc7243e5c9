import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptIdentity, answerHail, createEphemeral, parseFileFrame, type SecureChannel } from '@rushhour/protocol';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { Blobs } from '../../../store/blobs/blobs.ts';
import { Connection } from '../connection.ts';
import { createFileSender } from './file-sender.ts';

const mebibyte = 1024 * 1024;
const sha256 = 'a'.repeat(64);
const log = pino({ level: 'silent' });

let server: WebSocketServer;
let client: WebSocket;
let connection: Connection;
let channel: SecureChannel;
beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const opened = once(server, 'connection');
  client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [[socket]] = (await Promise.all([opened, once(client, 'open')])) as [[WebSocket], unknown];
  connection = new Connection(socket, '');
  const own = createEphemeral();
  const hail = { protocol: 2, ephemeral: own.publicKey };
  const answer = answerHail(hail, 'nonce', generateKeyPairSync('ed25519').privateKey);
  connection.secure(answer.channel);
  ({ channel } = acceptIdentity({ protocol: 2, nonce: 'nonce', own, identity: answer.identity }));
});
afterEach(() => {
  client.terminate();
  server.close();
});

/** A content of some size that counts how much of it was read. */
const createContent = (bytes: number) => {
  const content = { readBytes: 0, isDestroyed: false };
  const pieces = function* () {
    for (; content.readBytes < bytes; content.readBytes += mebibyte) yield Buffer.alloc(mebibyte, 1);
  };
  const read = async () => {
    const stream = Readable.from(pieces(), { highWaterMark: 1 });
    stream.once('close', () => {
      content.isDestroyed = true;
    });
    return stream;
  };
  return { content, blobs: { read } as unknown as Blobs };
};

it('a reader that does not read holds up its own transfer, and little is kept for it in memory', async () => {
  const { content, blobs } = createContent(64 * mebibyte);
  let receivedBytes = 0;
  client.on('message', (data: Buffer) => {
    const { kind, content: opened } = channel.open(data);
    if (kind === 'file') receivedBytes += parseFileFrame(opened).bytes.length;
  });
  client.pause();
  createFileSender(blobs, log).serve(connection, { sha256, offset: 0 });
  await sleep(500);
  expect(content.readBytes).toBeLessThan(16 * mebibyte);
  expect(connection.send({ type: 'beat', sentAt: 0, at: 0 })).toBe(true);
  client.resume();
  await expect.poll(() => receivedBytes).toBe(64 * mebibyte);
});

it('a transfer ends with its connection, and a second request replaces the first', async () => {
  const { content, blobs } = createContent(1024 * mebibyte);
  const sender = createFileSender(blobs, log);
  const offsets: number[] = [];
  client.on('message', (data: Buffer) => offsets.push(parseFileFrame(channel.open(data).content).offset));
  sender.serve(connection, { sha256, offset: 0 });
  await expect.poll(() => offsets.length).toBeGreaterThan(0);
  sender.serve(connection, { sha256, offset: 7 });
  await expect.poll(() => offsets.includes(7)).toBe(true);
  const rest = offsets.slice(offsets.indexOf(7));
  expect(rest.every((offset) => offset % 256 === 7)).toBe(true);
  client.terminate();
  sender.stop(connection);
  await expect.poll(() => content.isDestroyed).toBe(true);
  expect(content.readBytes).toBeLessThan(1024 * mebibyte);
});
