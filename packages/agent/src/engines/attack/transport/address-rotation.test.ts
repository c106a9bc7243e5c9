import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../../../../tests/process/free-port.ts';
import { httpAttempt, runBothEnds } from '../testing/two-ends.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A device that, once an address has sent an attack, is silent towards it, or towards everybody. */
const startDevice = async (serverPort: number, shuns: 'address' | 'everybody') => {
  const shunned = new Set<string>();
  const sockets = new Set<Socket>();
  const isShunned = (address: string) => shunned.has(address) || (shuns === 'everybody' && shunned.size > 0);
  const server = createServer((socket) => {
    const address = socket.remoteAddress ?? '';
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    if (isShunned(address)) return;
    const inside = connect(serverPort, '127.0.0.1');
    sockets.add(inside);
    inside.on('error', () => socket.destroy()).on('close', () => sockets.delete(inside));
    socket.on('data', (bytes) => {
      if (bytes.includes('/attack')) shunned.add(address);
      if (!isShunned(address)) inside.write(bytes);
    });
    inside.on('data', (bytes) => void socket.write(bytes)).on('end', () => socket.end());
    socket.on('end', () => inside.end());
  });
  const port = await freePort();
  await new Promise<void>((resolve) => void server.listen(port, '0.0.0.0', resolve));
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => void server.close(resolve));
  });
  return port;
};

const addresses = ['127.0.0.11', '127.0.0.12', '127.0.0.13'];

const runThrough = async (
  addressRotation: 'none' | 'perAttempt' | 'onShun',
  paths: readonly string[],
  shuns: 'address' | 'everybody' = 'address',
) => {
  const serverPort = await freePort();
  const port = await startDevice(serverPort, shuns);
  const transferred = { service: 'http', protocol: 'http', transport: 'tcp', isTls: false };
  return runBothEnds({
    attempts: paths.map((path, id) => httpAttempt(id, path)),
    targets: [{ host: '127.0.0.1', port, weight: 1, ...transferred }],
    listen: [{ host: '127.0.0.1', port: serverPort, ...transferred }],
    client: {
      addressRotation,
      sources: { addresses, networks: [], ranges: [], rotation: 'roundRobin' },
      timeoutMs: 800,
      control: { everyAttempts: 100, afterSilentDrop: true, retries: 0, timeoutMs: 1500, recoveryMs: 3000 },
    },
  });
};

describe('the source address of attacks', () => {
  it('changes when it is blocked and rotation is on, and the rest passes from another address', async () => {
    const { clients, controls } = await runThrough('onShun', ['/one', '/attack', '/two', '/attack', '/three']);
    const [one, first, two, second, three] = clients;
    expect(clients.map(({ isShunned }) => isShunned)).toEqual([false, true, false, true, false]);
    expect(clients.map(({ end }) => end)).toEqual(['response', 'timeout', 'response', 'timeout', 'response']);
    expect(first?.ip).toBe(one?.ip);
    expect(second?.ip).toBe(two?.ip);
    expect(new Set([one, two, three].map((client) => client?.ip)).size).toBe(3);
    const silent = controls.filter(({ reason }) => reason === 'silent-drop');
    const others = controls.filter(({ reason }) => reason === 'other-address');
    expect(silent.map(({ ip, isGood }) => [ip, isGood])).toEqual([
      [first?.ip, false],
      [second?.ip, false],
    ]);
    expect(others.map(({ isGood }) => isGood)).toEqual([true, true]);
  });

  it('stays the same without rotation, and later attempts are marked as shunned', async () => {
    const { clients } = await runThrough('none', ['/one', '/attack', '/two']);
    expect(new Set(clients.map(({ ip }) => ip)).size).toBe(1);
    expect(clients.map(({ isShunned }) => isShunned)).toEqual([false, true, true]);
  });

  it('changes with every attempt when configured', async () => {
    const { clients } = await runThrough('perAttempt', ['/1', '/2', '/3', '/4', '/5', '/6']);
    expect(clients.map(({ end }) => end)).toEqual(clients.map(() => 'response'));
    const used = clients.map(({ ip }) => ip);
    expect(new Set(used)).toEqual(new Set(addresses));
    expect(used.slice(0, 3)).toEqual(used.slice(3));
  });

  it('is not marked as shunned when the device drops all addresses', async () => {
    const { clients } = await runThrough('onShun', ['/one', '/attack', '/two'], 'everybody');
    expect(clients[1]).toMatchObject({ end: 'timeout', isShunned: false });
    expect(clients[2]?.skipped).toBe('path_not_proven');
  });
});

describe('attempts of several hosts', () => {
  const runHosts = async (hosts: number) => {
    const port = await freePort();
    const transferred = { service: 'http', protocol: 'http', transport: 'tcp', isTls: false };
    const endpoint = { host: '127.0.0.1', port, ...transferred };
    const attempts = Array.from({ length: hosts * 2 }, (_, id) => ({
      ...httpAttempt(id, `/${id}`),
      host: Math.floor(id / 2),
      delayMs: 200,
    }));
    return runBothEnds({
      attempts,
      targets: [{ ...endpoint, weight: 1 }],
      listen: [endpoint],
      client: { sources: { addresses, networks: [], ranges: [], rotation: 'roundRobin' } },
    });
  };

  it('come from an address each and at the same time', async () => {
    const { clients, notes } = await runHosts(3);
    expect(clients.map(({ ip }) => ip)).toEqual(addresses.flatMap((address) => [address, address]));
    // Every host has begun before the first one sends again.
    const begun = clients.map(({ startedMs }) => startedMs);
    expect(Math.max(begun[0] ?? 0, begun[2] ?? 0, begun[4] ?? 0)).toBeLessThan(begun[1] ?? 0);
    expect(notes).toEqual([]);
  });

  it('share addresses when there are too few, which is noted', async () => {
    const { clients, notes } = await runHosts(4);
    expect(clients[6]?.ip).toBe(addresses[0]);
    expect(notes).toEqual(['4 hosts send from 3 source addresses']);
  });
});
