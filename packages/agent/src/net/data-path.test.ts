import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { choosePath, createStreamTransport, datagramPathName, PathUnavailable, streamPathName } from './data-path.ts';
import type { Route, Transport } from './transport/transport.ts';

const works = (path: string) => ({ path, probe: () => undefined });
const fails = (path: string, reason: string) => ({ path, probe: () => reason });

describe('data path', () => {
  it('takes the fastest available path and notes why faster ones were skipped', () => {
    const notes: string[] = [];
    const note = (remark: string) => notes.push(remark);
    const ladder = [fails('io_uring', 'no io_uring: a seccomp filter'), works('epoll'), works('node')];
    expect(choosePath(ladder, { path: undefined, note }).path).toBe('epoll');
    expect(notes).toEqual(['sockets by epoll: no io_uring: a seccomp filter']);
    expect(choosePath([works('io_uring'), works('node')], { path: 'auto', note }).path).toBe('io_uring');
    expect(notes).toHaveLength(1);
  });

  it('takes the requested path or none', () => {
    const note = () => expect.unreachable();
    expect(choosePath([works('io_uring'), works('node')], { path: 'node', note }).path).toBe('node');
    const ladder = [fails('io_uring', 'kernel 4.19 has no io_uring'), works('node')];
    expect(() => choosePath(ladder, { path: 'io_uring', note })).toThrow(PathUnavailable);
    expect(() => choosePath(ladder, { path: 'io_uring', note })).toThrow('kernel 4.19 has no io_uring');
    expect(() => choosePath(ladder, { path: 'epoll', note })).toThrow('no data path epoll');
  });

  it('finds the fast paths on a machine that supports benchmarks', () => {
    expect([streamPathName(), datagramPathName()]).toEqual(['io_uring', 'sendmmsg']);
  });
});

describe.each(['io_uring', 'epoll', 'node'] as const)('connections by %s', (path) => {
  const unreachable = '203.0.113.1';
  const sources: unknown[] = [];
  const server = createServer((socket) => {
    sources.push(socket.remoteAddress);
    socket.on('error', () => {}).end();
  });
  let transport: Transport;
  let to: Route;

  beforeEach(async () => {
    sources.length = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    to = { address: '127.0.0.1', port: (server.address() as AddressInfo).port };
    const options = { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: true } as const;
    transport = createStreamTransport({ path, note: () => {} }, options);
  });

  afterEach(async () => {
    await transport.close();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Whether it stood, and the code of its end. */
  const tryRoute = (route: Route) =>
    new Promise<string>((resolve) => {
      const connection = transport.connect(route, {
        onOpen: () => {
          resolve('stood');
          connection.close();
        },
        onData() {},
        onClose: (code) => resolve(code ?? 'ended'),
      });
    });

  const countSockets = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
      } catch {
        return false;
      }
    }).length;

  it('use the requested source address or fail', async () => {
    expect(await tryRoute({ ...to, localAddress: unreachable })).toBe('EADDRNOTAVAIL');
    expect(await tryRoute({ ...to, localAddress: '127.0.0.9' })).toBe('stood');
    expect(await tryRoute(to)).toBe('stood');
    await expect.poll(() => sources).toEqual(['127.0.0.9', '127.0.0.1']);
  });

  it('are opened together, independent of those that fail', async () => {
    const routes = [to, { ...to, localAddress: unreachable }, { ...to, port: 1 }, { ...to, localAddress: '127.0.0.9' }];
    expect(await Promise.all(routes.map(tryRoute))).toEqual(['stood', 'EADDRNOTAVAIL', 'ECONNREFUSED', 'stood']);
  });

  it('lose nothing of what arrives for all of them at once', async () => {
    const sent = randomBytes(300_000);
    const generous = createServer((socket) => socket.on('error', () => {}).end(sent));
    generous.listen(0, '127.0.0.1');
    await once(generous, 'listening');
    const { port } = generous.address() as AddressInfo;
    const read = () =>
      new Promise<Buffer>((resolve) => {
        const parts: Buffer[] = [];
        transport.connect(
          { ...to, port },
          {
            onOpen() {},
            onData: ({ bytes, start, end }) => void parts.push(Buffer.from(bytes.subarray(start, end))),
            onClose: () => resolve(Buffer.concat(parts)),
          },
        );
      });
    const all = await Promise.all(Array.from({ length: 60 }, read));
    expect(all.filter((got) => got.equals(sent))).toHaveLength(60);
    await new Promise((resolve) => generous.close(resolve));
  });

  it('leave nothing behind when they are reset before they are established', async () => {
    const before = countSockets();
    const ends: (string | undefined)[] = [];
    const events = { onOpen() {}, onData() {} };
    const given = Array.from({ length: 3 }, () =>
      transport.connect(to, { ...events, onClose: (code) => ends.push(code) }),
    );
    given[0]?.reset();
    // Its end, in the middle of opening, is the end of those that are opened with it.
    await new Promise<void>((resolve) => {
      transport.connect(
        { ...to, localAddress: unreachable },
        {
          ...events,
          onClose: (code) => {
            expect(code).toBe('EADDRNOTAVAIL');
            given[1]?.reset();
            given[2]?.reset();
            resolve();
          },
        },
      );
    });
    await expect.poll(() => ends).toEqual([undefined, undefined, undefined]);
    await expect.poll(countSockets).toBe(before);
  });
});
