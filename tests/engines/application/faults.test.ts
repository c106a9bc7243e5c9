import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runJob, startJob } from '../job.ts';
import { beside, forget, type Recording, recordShop } from './capture.ts';
import { startMeddler } from './proxies.ts';
import { parameterOf, replay } from './replay.ts';

let shop: Recording;
beforeAll(async () => {
  shop = await recordShop();
});
afterAll(() => {
  if (shop) forget(shop);
});

const play = (more: object = {}) => ({
  ...{ name: 'shop', capture: shop.file, sessions: [{ sessionIndex: 0 }], speed: { mode: 'max' }, users: 1 },
  ...{ seed: 'a', timeoutMs: 300 },
  ...more,
});
const clientOf = (port: number, more: object = {}, share: object = {}) => ({
  engine: 'application',
  config: {
    role: 'client',
    applications: [play(more)],
    targets: [{ host: '127.0.0.1', ports: [{ recorded: shop.port, ports: [port] }] }],
    shares: [{ firstUser: 0, users: 1, iterations: 2, load: {}, ...share }],
  },
});
/** A peer that is not one of our agents. */
const stranger = async (onSocket: (socket: Socket) => void) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as { port: number }).port, close };
};

describe('a session fails, and is counted by its reason, when', () => {
  it('the port is closed', async () => {
    const { port, close } = await stranger(() => {});
    close();
    const client = await runJob(clientOf(port));
    expect(client.counter('application.ko')).toBe(2);
    expect(client.counter('application.errors.refused')).toBe(2);
  });

  it('nothing is answered in time', async () => {
    const silent = await stranger((socket) => socket.resume());
    const client = await runJob(clientOf(silent.port));
    silent.close();
    expect(client.counter('application.errors.timeout')).toBe(2);
    expect(client.histogram('application.exchange').count).toBe(2);
    expect(client.counter('application.mismatches')).toBe(0);
  });

  it('the connection is cut', async () => {
    const cutter = await stranger((socket) => socket.on('data', () => socket.resetAndDestroy()));
    const client = await runJob(clientOf(cutter.port));
    cutter.close();
    expect(client.counter('application.ko')).toBe(2);
    expect(client.counter('application.errors.reset')).toBe(2);
  });

  it('only a part of an answer comes', async () => {
    const stingy = await stranger((socket) => socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nServer: ')));
    const client = await runJob(clientOf(stingy.port));
    stingy.close();
    expect(client.counter('application.mismatch.0-1')).toBe(2);
    expect(client.outcome.notes.join()).toMatch(/ends after 25 of \d+ bytes/);
  });
});

describe('a changed answer', () => {
  const meddled = (shared: object, share = {}) =>
    replay({
      recording: shop,
      shared,
      share: { iterations: 3, ...share },
      through: (port) => startMeddler(port, (text) => text.replace('front page', 'Front page')),
    });

  it('ends the session when the job says so', async () => {
    const { client } = await meddled({ onMismatch: 'stopSession' });
    expect(client.counter('application.mismatches')).toBe(3);
    expect(client.counter('application.exchanges')).toBe(0);
    expect(client.counter('application.errors.mismatch')).toBe(3);
  });

  it('ends the run when the job says so, with the reason', async () => {
    const { client } = await meddled({ onMismatch: 'stopTask' });
    expect(client.outcome).toMatchObject({ status: 'failed', code: 'MISMATCH' });
    expect(client.outcome.error).toContain('instead of 0x66');
  });

  it.each(['length', 'any'])('is ignored when matching by %s', async (match) => {
    const { client, notes } = await meddled({ match });
    expect(notes).toEqual([]);
    expect(client.counter('application.ok')).toBe(3);
  });

  it('of another length is reported with its offset', async () => {
    const { client, notes } = await replay({
      recording: shop,
      shared: { onMismatch: 'stopSession' },
      through: (port) => startMeddler(port, (text) => text.replace('front page', 'the front page')),
    });
    expect(client.counter('application.mismatches')).toBe(1);
    expect(notes.join()).toContain('0x74 instead of 0x66');
  });
});

describe('a job is refused when', () => {
  const errorOf = async (more: object) => (await startJob(clientOf(1, more)).totals).outcome.error;

  it('its capture cannot be read, or has no such session', async () => {
    expect(await errorOf({ capture: beside(shop, 'text.pcap', 'no capture at all, but text') })).toBeDefined();
    expect(await errorOf({ capture: `${shop.folder}/missing` })).toContain('ENOENT');
    expect(await errorOf({ sessions: [{ sessionIndex: 99 }] })).toContain('there is no session 99');
  });

  it('its dictionary is invalid', async () => {
    const parameters = [parameterOf({ source: 'dictionary', defaultValue: 'dict/7/value' })];
    const options = clientOf(1, { parameters });
    const dictionaries = [{ id: 7, type: 'oracle', selection: 'sequential' }];
    const { outcome } = await startJob({ ...options, config: { ...options.config, dictionaries } }).totals;
    expect(outcome.status).toBe('failed');
  });
});
