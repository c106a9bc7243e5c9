import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../../../tests/process/free-port.ts';
import { describeHost } from '../../machine/host.ts';
import { prepareJob } from '../../runs/job/prepare-job.ts';
import { SampleStore } from '../../samples.ts';
import { engines } from '../index.ts';
import { attemptOf, httpAttempt, runBothEnds } from './testing/two-ends.ts';

const http = (port: number) => ({ host: '127.0.0.1', port, service: 'http', protocol: 'http' });

/** A device on the way: sees what each side says and may pass on something else, or nothing. */
const deviceBefore = async (
  port: number,
  treat: (bytes: Buffer, sides: { client: Socket; path: 'there' | 'back' }) => Buffer | undefined,
) => {
  const device = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    client.on('data', (bytes) => {
      const passed = treat(bytes, { client, path: 'there' });
      if (passed !== undefined) server.write(passed);
    });
    server.on('data', (bytes) => {
      const passed = treat(bytes, { client, path: 'back' });
      if (passed !== undefined) client.write(passed);
    });
    server.on('end', () => client.end());
    for (const socket of [client, server])
      socket.on('error', () => {}).on('close', () => [client, server].map((one) => one.destroy()));
  });
  device.listen(0, '127.0.0.1');
  await once(device, 'listening');
  return { port: (device.address() as AddressInfo).port, close: () => device.close() };
};

describe('attempts between client and server', () => {
  it('begin with the greeting of the server, which says nothing of what follows it', async () => {
    const port = await freePort();
    const device = await deviceBefore(port, (bytes, { client, path }) => {
      if (path === 'back' || !bytes.includes('forbidden')) return bytes;
      client.end('550 stopped\r\n');
      return undefined;
    });
    const data = (text: string) => ({ data: Buffer.from(text).toString('base64') });
    const ftp = { service: 'ftp', protocol: 'raw', host: '127.0.0.1' };
    const attempt = (id: number, user: string) =>
      attemptOf(id, {
        service: 'ftp',
        exchange: {
          ...{ protocol: 'raw', transport: 'tcp', greeting: data('220 ready\r\n') },
          sends: [`USER ${user}\r\n`, 'PASS x\r\n'].map((line) => ({ content: data(line), waitResponse: true })),
          answers: ['331 go on\r\n', '530 no\r\n'].map(data),
        },
      });
    const { clients, servers } = await runBothEnds({
      attempts: [attempt(0, 'anna'), attempt(1, 'forbidden')],
      targets: [{ ...ftp, port: device.port }],
      listen: [{ ...ftp, port }],
    });
    device.close();
    expect(clients[0]).toMatchObject({ end: 'response', responseIsOurs: true, rxBytes: 30 });
    expect(servers.find(({ attempt }) => attempt === 0)).toMatchObject({
      seen: 'full',
      sentSha256: clients[0]?.rxSha256,
    });
    expect(clients[1]).toMatchObject({ end: 'response', responseIsOurs: false, rxBytes: 24 });
  });

  it('arrive complete and get our own answer on a transparent path', async () => {
    const port = await freePort();
    const [rawPort, dnsPort] = [await freePort(), await freePort()];
    const raw = { host: '127.0.0.1', port: rawPort, service: 'mqtt', protocol: 'raw' };
    const packets = { ...raw, service: 'packets', transport: 'udp' };
    const dns = { host: '127.0.0.1', port: dnsPort, service: 'dns', protocol: 'dns', transport: 'udp' };
    const data = (text: string) => ({ data: Buffer.from(text).toString('base64') });
    const sends = [
      { content: data('hello\0'), waitResponse: true },
      { content: data('bye'), waitResponse: false },
    ];
    const dnsExchange = { protocol: 'dns', transport: 'udp', qtype: 'A', rcode: 'NOERROR' } as const;
    const both = await runBothEnds({
      attempts: [
        httpAttempt(0, '/?q=<script>alert(1)</script>'),
        httpAttempt(1, '/form', 'a=1&b=2'),
        attemptOf(2, {
          service: 'mqtt',
          exchange: { protocol: 'raw', transport: 'tcp', sends, answers: [data('welcome')] },
        }),
        attemptOf(3, { service: 'packets', exchange: { protocol: 'raw', transport: 'udp', sends, answers: [] } }),
        attemptOf(4, {
          service: 'dns',
          exchange: { ...dnsExchange, qname: 'abc.example.test', answers: ['192.0.2.1'] },
        }),
      ],
      targets: [http(port), raw, packets, dns],
      listen: [http(port), raw, packets, dns],
    });
    expect(both.clients.map(({ end, responseIsOurs }) => [end, responseIsOurs])).toEqual(
      Array.from({ length: 5 }, () => ['response', true]),
    );
    expect(both.servers.map(({ attempt, seen }) => [attempt, seen]).toSorted()).toEqual([
      [0, 'full'],
      [1, 'full'],
      [2, 'full'],
      [3, 'full'],
      [3, 'full'],
      [4, 'full'],
    ]);
    for (const attempt of [0, 1, 2, 4]) {
      const server = both.servers.find((seen) => seen.attempt === attempt);
      expect(both.clients[attempt]).toMatchObject({ rxSha256: server?.sentSha256, sentSha256: server?.rxSha256 });
    }
    expect(both.controls.every(({ isGood }) => isGood)).toBe(true);
  });

  it('are not sent when the server does not prove itself', async () => {
    const port = await freePort();
    const both = await runBothEnds({
      attempts: [httpAttempt(0, '/'), httpAttempt(1, '/')],
      targets: [http(port)],
      listen: [http(port)],
      client: { control: { everyAttempts: 10, afterSilentDrop: true, retries: 0, timeoutMs: 200 } },
      server: { proofKey: 'another key than the client has' },
    });
    expect(both.servers).toEqual([]);
    expect(both.clients.map(({ skipped }) => skipped)).toEqual(['path_not_proven', 'path_not_proven']);
    expect(both.notes.join()).toContain('did not prove to be the server agent');
  });

  it('distinguish a reset, silence, stripped bytes and a foreign answer', async () => {
    const port = await freePort();
    const device = await deviceBefore(port, (bytes, { client, path }) => {
      const text = bytes.toString('latin1');
      if (text.includes('reset-me')) client.resetAndDestroy();
      if (text.includes('swallow-me') || text.includes('reset-me')) return undefined;
      if (path === 'there') return Buffer.from(text.replace('<script>', ''), 'latin1');
      if (!text.includes('/3')) return bytes;
      client.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 7\r\n\r\nblocked');
      return undefined;
    });
    const both = await runBothEnds({
      attempts: ['reset-me', 'swallow-me', '<script>', 'replace-me'].map((text, id) => httpAttempt(id, `/?q=${text}`)),
      targets: [http(device.port)],
      listen: [http(port)],
      client: { timeoutMs: 700 },
    });
    device.close();
    expect(both.clients.map(({ end, status, responseIsOurs }) => [end, status, responseIsOurs])).toEqual([
      ['reset', 0, false],
      ['timeout', 0, false],
      ['response', 200, true],
      ['response', 403, false],
    ]);
    const seen = both.servers.filter(({ attempt }) => attempt !== null).map((server) => [server.attempt, server.seen]);
    expect(seen).toEqual([
      [2, 'modified'],
      [3, 'full'],
    ]);
    expect(both.controls.some(({ reason, isGood }) => reason === 'silent-drop' && isGood)).toBe(true);
  });

  it('are rejected by the agent when the job does not allow the target', async () => {
    const target = { host: '198.51.100.9', port: 80, service: 'http', protocol: 'http' };
    const config = {
      role: 'client',
      targets: [target],
      attempts: '/nowhere',
      runToken: 'test1',
      proofKey: 'x'.repeat(16),
    };
    const order = {
      ...{ runId: 1, epoch: 0, engine: 'waf', config, cpuCores: 1, allowedTargets: ['10.0.0.0/8'] },
      duration: { mode: 'continuous' as const, seconds: 1, count: 1, rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 },
    };
    const deps = {
      engines,
      host: describeHost(),
      store: new SampleStore(),
      signal: AbortSignal.abort(),
      note: () => {},
    };
    await expect(prepareJob(order, deps)).rejects.toMatchObject({ code: 'TARGET_NOT_ALLOWED' });
  });

  it('without a marker are identified by content', async () => {
    const port = await freePort();
    const both = await runBothEnds({
      attempts: [httpAttempt(0, '/a'), httpAttempt(1, '/b', 'x'), httpAttempt(2, '/b', 'x')],
      targets: [http(port)],
      listen: [http(port)],
      client: { marker: false },
      server: { marker: false },
    });
    expect(both.clients.map(({ responseIsOurs }) => responseIsOurs)).toEqual([true, true, true]);
    expect(both.servers.map(({ attempt, correlation }) => [attempt, correlation])).toEqual([
      [0, 'content'],
      [1, 'content'],
      [2, 'content'],
    ]);
  });

  it('are skipped when a required attempt did not pass', async () => {
    const port = await freePort();
    const device = await deviceBefore(port, (bytes, { client }) => {
      if (!bytes.includes('first')) return bytes;
      client.resetAndDestroy();
      return undefined;
    });
    const both = await runBothEnds({
      attempts: [
        { ...httpAttempt(0, '/first'), onBlocked: 'next-channel', channel: 'web' },
        { ...httpAttempt(1, '/second'), requires: [0] },
        { ...httpAttempt(2, '/third'), channel: 'web' },
        httpAttempt(3, '/fourth'),
      ],
      targets: [http(device.port)],
      listen: [http(port)],
    });
    device.close();
    expect(both.clients.map(({ skipped }) => skipped)).toEqual([
      undefined,
      'requirement_failed',
      'channel_left',
      undefined,
    ]);
  });
});

describe('reused connections', () => {
  it('carry several attempts and none after an error', async () => {
    const port = await freePort();
    const ports: number[] = [];
    const device = await deviceBefore(port, (bytes, { client, path }) => {
      if (path === 'there' && client.remotePort !== undefined && bytes.includes('X-Traffic-Test')) {
        ports.push(client.remotePort);
      }
      if (path === 'there' && bytes.includes('evil')) {
        client.end('HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno');
        return undefined;
      }
      return bytes;
    });
    const both = await runBothEnds({
      attempts: [httpAttempt(0, '/a'), httpAttempt(1, '/b', 'x=1'), httpAttempt(2, '/evil'), httpAttempt(3, '/c')],
      targets: [http(device.port)],
      listen: [http(port)],
      client: { keepAlive: true },
      server: { keepAlive: true },
    });
    device.close();
    expect(both.clients.map(({ status, responseIsOurs }) => [status, responseIsOurs])).toEqual([
      [200, true],
      [200, true],
      [403, false],
      [200, true],
    ]);
    expect([new Set(ports.slice(0, 3)).size, new Set(ports).size]).toEqual([1, 2]);
  });

  it('are reopened transparently when the peer has closed them', async () => {
    const port = await freePort();
    const closing = new Set<Socket>();
    const device = await deviceBefore(port, (bytes, { client, path }) => {
      // Closes as soon as the next request comes, as a proxy does whose patience is over.
      if (path === 'there' && closing.has(client)) {
        client.resetAndDestroy();
        return undefined;
      }
      if (path === 'back') closing.add(client);
      return bytes;
    });
    const both = await runBothEnds({
      attempts: [httpAttempt(0, '/a'), httpAttempt(1, '/b')],
      targets: [http(device.port)],
      listen: [http(port)],
      client: { keepAlive: true },
      server: { keepAlive: true },
    });
    device.close();
    expect(both.clients.map(({ end, responseIsOurs }) => [end, responseIsOurs])).toEqual([
      ['response', true],
      ['response', true],
    ]);
  });

  it('send cookies set by a device', async () => {
    const port = await freePort();
    const seen: string[] = [];
    const device = await deviceBefore(port, (bytes, { path }) => {
      const text = bytes.toString('latin1');
      if (path === 'there' && text.includes('X-Traffic-Test')) seen.push(/\r\nCookie: ([^\r]*)/.exec(text)?.[1] ?? '');
      if (path === 'there') return bytes;
      return Buffer.from(text.replace('\r\n', '\r\nSet-Cookie: waf=abc; Path=/; HttpOnly\r\n'), 'latin1');
    });
    const both = await runBothEnds({
      attempts: [httpAttempt(0, '/a'), httpAttempt(1, '/b')],
      targets: [http(device.port)],
      listen: [http(port)],
      client: { followCookies: true },
    });
    device.close();
    expect(seen).toEqual(['', 'waf=abc']);
    expect(both.servers.filter(({ attempt }) => attempt !== null).map(({ seen: how }) => how)).toEqual([
      'full',
      'full',
    ]);
  });
});

it('the TLS handshake uses the Host header of the attempt as server name', async () => {
  const port = await freePort();
  const names: string[] = [];
  const device = await deviceBefore(port, (bytes, { path }) => {
    if (path === 'there' && bytes.includes('shop.test', 0, 'latin1')) names.push('shop.test');
    return bytes;
  });
  const attempt = httpAttempt(0, '/a');
  if (attempt.exchange.protocol === 'http') {
    attempt.exchange.steps[0]?.request.headers.push({ name: 'Host', value: 'shop.test' });
  }
  const tls = { isTls: true };
  const both = await runBothEnds({
    attempts: [attempt],
    targets: [{ ...http(device.port), ...tls }],
    listen: [{ ...http(port), ...tls }],
    client: { tls: { verify: false } },
  });
  device.close();
  expect(both.clients).toMatchObject([{ connect: 'ok', responseIsOurs: true }]);
  expect(names).toEqual(['shop.test']);
});

describe('HTTP/2', () => {
  const asTwo = (attempt: ReturnType<typeof httpAttempt>) => {
    if (attempt.exchange.protocol === 'http') for (const { request } of attempt.exchange.steps) request.version = '2';
    return attempt;
  };

  it.each([false, true])('carries attempts and proofs, TLS: %s', async (isTls) => {
    const port = await freePort();
    const endpoint = { ...http(port), isTls };
    const both = await runBothEnds({
      attempts: [
        asTwo(httpAttempt(0, '/?q=%3Cscript%3E')),
        asTwo(httpAttempt(1, '/form', 'a=1')),
        httpAttempt(2, '/one'),
      ],
      targets: [endpoint],
      listen: [endpoint],
      client: { timeoutMs: 2000, tls: { verify: false } },
    });
    expect(both.clients).toMatchObject(
      [0, 1, 2].map(() => ({ connect: 'ok', end: 'response', status: 200, responseIsOurs: true, isComplete: true })),
    );
    expect(both.servers.filter(({ attempt }) => attempt !== null)).toMatchObject(
      [0, 1, 2].map((attempt) => ({ attempt, seen: 'full', correlation: 'token' })),
    );
    expect(both.servers.map(({ sentSha256 }) => sentSha256)).toEqual(both.clients.map(({ rxSha256 }) => rxSha256));
  });

  it('distinguishes a reset from silence', async () => {
    const port = await freePort();
    const device = await deviceBefore(port, (bytes, { client, path }) => {
      if (path === 'there' && bytes.includes('PRI * HTTP/2.0')) {
        if (resets) client.resetAndDestroy();
        return undefined;
      }
      return bytes;
    });
    const seen = async () =>
      (
        await runBothEnds({
          attempts: [asTwo(httpAttempt(0, '/a'))],
          targets: [http(device.port)],
          listen: [http(port)],
          client: { timeoutMs: 700 },
        })
      ).clients[0]?.end;
    let resets = true;
    expect(await seen()).toBe('reset');
    resets = false;
    expect(await seen()).toBe('timeout');
    device.close();
  });
});
