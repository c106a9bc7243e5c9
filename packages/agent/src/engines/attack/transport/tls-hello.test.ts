import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import type { TlsHello } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { freePort } from '../../../../../../tests/process/free-port.ts';
import { createSecureDialer } from '../../../net/secure-dialer.ts';
import { helloOptions } from '../../../net/tls/client-offer.ts';
import { createSelfSigned } from '../../../net/tls/self-signed.ts';
import { httpAttempt, runBothEnds } from '../testing/two-ends.ts';
import { fingerprintIn } from './tls-hello.ts';

const tls = { host: '127.0.0.1', service: 'http', protocol: 'http', transport: 'tcp', isTls: true };

const old: TlsHello = {
  versions: ['1.2'],
  ciphers: 'ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES128-SHA:AES128-SHA',
  groups: 'P-256',
  signatures: 'ECDSA+SHA256:RSA+SHA256',
  alpn: [],
  ...{ ticket: false, encryptThenMac: false, extendedSecret: false, status: false },
};
const modern: TlsHello = {
  versions: ['1.2', '1.3'],
  ciphers: 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256',
  groups: 'X25519:P-256',
  alpn: ['http/1.1'],
  ...{ ticket: true, encryptThenMac: false, extendedSecret: true, status: true },
};

const attemptWith = (id: number, hello: TlsHello | undefined, host = 'c2.test') => {
  const attempt = httpAttempt(id, `/${id}`);
  if (attempt.exchange.protocol !== 'http') throw new Error('is HTTP');
  attempt.exchange.steps[0]?.request.headers.push({ name: 'Host', value: host });
  return hello === undefined ? attempt : { ...attempt, exchange: { ...attempt.exchange, hello } };
};

it('an attempt offers what its hello says, in this order, and the fingerprint arrives as it left', async () => {
  const port = await freePort();
  const both = await runBothEnds({
    attempts: [
      attemptWith(0, old),
      attemptWith(1, modern),
      attemptWith(2, undefined),
      attemptWith(3, modern, '1.2.3.4'),
    ],
    targets: [{ ...tls, port }],
    listen: [{ ...tls, port }],
    client: { tls: { verify: false } },
  });
  expect(both.clients.map(({ responseIsOurs }) => responseIsOurs)).toEqual([true, true, true, true]);
  const sent = both.clients.map((one) => one.tls);
  const arrived = both.servers
    .filter(({ attempt }) => attempt !== null)
    .toSorted((a, b) => (a.attempt ?? 0) - (b.attempt ?? 0));
  expect(arrived.map((one) => one.tls)).toEqual(sent);
  // TLS 1.2 with a name, three suites, no ALPN; TLS 1.3 with http/1.1; no name.
  expect(sent[0]?.ja4).toMatch(/^t12d03\d\d00_/);
  expect(sent[1]?.ja4).toMatch(/^t13d03\d\dh1_/);
  expect(sent[3]?.ja4).toMatch(/^t13i03\d\dh1_/);
  expect(new Set(sent.map((one) => one?.ja3)).size).toBe(4);
});

const signed: TlsHello = { ...modern, signatures: 'RSA+SHA384:ECDSA+SHA256' };

/** The first message of a connection by OpenSSL, and by the TLS of Node that stands in for it. */
const helloBy = {
  async OpenSSL() {
    const settings = { versions: ['1.3' as const], alpn: [], verify: false, resumption: 'none' as const };
    const dialer = createSecureDialer(settings, { note: () => expect.fail('OpenSSL can be called') });
    const hello = await dialer.clientHello({ address: '127.0.0.1', hello: signed });
    dialer.close();
    return hello;
  },
  async 'node:tls'() {
    const received: Buffer[] = [];
    const server = createServer((socket) => socket.on('error', () => {}).on('data', (bytes) => received.push(bytes)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connectTls({ ...helloOptions(signed), port, host: '127.0.0.1' });
    socket.on('error', () => {});
    await expect.poll(() => typeof fingerprintIn(Buffer.concat(received))).toBe('object');
    socket.destroy();
    server.close();
    return Buffer.concat(received);
  },
};

it.each(['OpenSSL', 'node:tls'] as const)(
  'suites, groups and signatures are on the wire in the order of the hello, by %s',
  async (name) => {
    const hello = await helloBy[name]();
    const hex = hello.toString('hex');
    // TLS_AES_128_GCM_SHA256 and two suites of ECDHE, no compression.
    expect(hex).toContain('00061301c02bc02f0100');
    // Extension 10 with X25519 and P-256, extension 13 with RSA+SHA384 and ECDSA+SHA256.
    expect(hex).toContain('000a00060004001d0017');
    expect(hex).toContain('000d0006000405010403');
  },
);

it('OpenSSL and the TLS of Node begin alike', async () => {
  const [own, node] = await Promise.all([helloBy.OpenSSL(), helloBy['node:tls']()]);
  expect(fingerprintIn(own)).toEqual(fingerprintIn(node));
});

it('a device that opens TLS is known by the fingerprint that arrives', async () => {
  const port = await freePort();
  const { certificate, privateKey } = createSelfSigned(['device.test']);
  const device = createTlsServer({ cert: certificate, key: privateKey }, (socket) => {
    const onward = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    for (const one of [socket, onward]) one.on('error', () => {});
    socket.pipe(onward).pipe(socket);
  });
  device.listen(0, '127.0.0.1');
  await once(device, 'listening');
  const both = await runBothEnds({
    attempts: [attemptWith(0, old)],
    targets: [{ ...tls, port: (device.address() as AddressInfo).port }],
    listen: [{ ...tls, port }],
    client: { tls: { verify: false } },
  });
  device.close();
  expect(both.clients[0]).toMatchObject({ responseIsOurs: true, tls: { ja4: expect.stringMatching(/^t12/) } });
  expect(both.servers.find(({ attempt }) => attempt === 0)?.tls?.ja4).toMatch(/^t13/);
});

it('a first message in many pieces is read whole', async () => {
  const port = await freePort();
  const device = createServer((socket) => {
    const onward = connect(port, '127.0.0.1').setNoDelay(true);
    for (const one of [socket, onward]) one.on('error', () => {}).on('close', () => socket.destroy());
    onward.pipe(socket);
    socket.on('data', async (bytes) => {
      socket.pause();
      for (let at = 0; at < bytes.length; at += 40) {
        onward.write(bytes.subarray(at, at + 40));
        await new Promise((done) => setImmediate(done));
      }
      socket.resume();
    });
  });
  device.listen(0, '127.0.0.1');
  await once(device, 'listening');
  const both = await runBothEnds({
    attempts: [attemptWith(0, modern)],
    targets: [{ ...tls, port: (device.address() as AddressInfo).port }],
    listen: [{ ...tls, port }],
    client: { tls: { verify: false } },
  });
  device.close();
  expect(both.clients[0]?.responseIsOurs).toBe(true);
  expect(both.servers.find(({ attempt }) => attempt === 0)?.tls).toEqual(both.clients[0]?.tls);
});
