import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { chooseStep, createStreamTransport, datagramWay, PathUnavailable, streamWay } from './data-path.ts';
import type { Route, Transport } from './transport.ts';

const works = (path: string) => ({ path, probe: () => undefined });
const fails = (path: string, reason: string) => ({ path, probe: () => reason });

describe('data path', () => {
  it('takes the fastest way that works and says why not a faster one', () => {
    const notes: string[] = [];
    const note = (remark: string) => notes.push(remark);
    const ladder = [fails('io_uring', 'no io_uring: a seccomp filter'), works('epoll'), works('node')];
    expect(chooseStep(ladder, { path: undefined, note }).path).toBe('epoll');
    expect(notes).toEqual(['sockets by epoll: no io_uring: a seccomp filter']);
    expect(chooseStep([works('io_uring'), works('node')], { path: 'auto', note }).path).toBe('io_uring');
    expect(notes).toHaveLength(1);
  });

  it('takes the way that was asked for, or none', () => {
    const note = () => expect.unreachable();
    expect(chooseStep([works('io_uring'), works('node')], { path: 'node', note }).path).toBe('node');
    const ladder = [fails('io_uring', 'kernel 4.19 has no io_uring'), works('node')];
    expect(() => chooseStep(ladder, { path: 'io_uring', note })).toThrow(PathUnavailable);
    expect(() => chooseStep(ladder, { path: 'io_uring', note })).toThrow('kernel 4.19 has no io_uring');
    expect(() => chooseStep(ladder, { path: 'epoll', note })).toThrow('no data path epoll');
  });

  it('finds the fast ways on a machine that tests of speed can run on', () => {
    expect([streamWay(), datagramWay()]).toEqual(['io_uring', 'sendmmsg']);
  });
});

describe.each(['io_uring', 'epoll', 'node'] as const)('connections by %s', (path) => {
  /** Whether it stood, and the code of its end. */
  const tryRoute = (transport: Transport, route: Route) =>
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

  it('come from the ordered address or not at all', async () => {
    const sources: unknown[] = [];
    const server = createServer((socket) => {
      sources.push(socket.remoteAddress);
      socket.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const options = { noDelay: true, keepAliveSec: 0, reads: 'small', leavesAtOnce: true } as const;
    const transport = createStreamTransport({ path, note: () => {} }, options);
    try {
      const to = { address: '127.0.0.1', port };
      expect(await tryRoute(transport, { ...to, localAddress: '203.0.113.1' })).toBe('EADDRNOTAVAIL');
      expect(await tryRoute(transport, { ...to, localAddress: '127.0.0.9' })).toBe('stood');
      expect(await tryRoute(transport, to)).toBe('stood');
      await expect.poll(() => sources).toEqual(['127.0.0.9', '127.0.0.1']);
    } finally {
      await transport.close();
      server.close();
    }
  });
});
