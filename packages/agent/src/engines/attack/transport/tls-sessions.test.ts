import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import { createSelfSigned } from '../../../net/tls/self-signed.ts';
import { httpAttempt, runBothEnds } from '../testing/two-ends.ts';

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};

/** Attempts through a device that ends TLS; `seen`: by name of the server, which connections resumed a session. */
const attemptsThrough = async (tls: object, version: 'TLSv1.2' | 'TLSv1.3') => {
  const service = { host: '127.0.0.1', service: 'http', protocol: 'http', transport: 'tcp', isTls: true };
  const port = await freePort();
  const { certificate, privateKey } = createSelfSigned(['device.test']);
  const seen = new Map<string, boolean[]>();
  const options = { cert: certificate, key: privateKey, minVersion: version, maxVersion: version };
  const device = createTlsServer(options, (socket) => {
    const name = String((socket as TLSSocket & { servername?: string | false }).servername);
    seen.set(name, [...(seen.get(name) ?? []), socket.isSessionReused()]);
    const onward = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    for (const one of [socket, onward]) one.on('error', () => {});
    socket.pipe(onward).pipe(socket);
  });
  device.listen(0, '127.0.0.1');
  await once(device, 'listening');
  const both = await runBothEnds({
    attempts: [0, 1, 2, 3].map((id) => httpAttempt(id, `/${id}`)),
    targets: [{ ...service, port: (device.address() as AddressInfo).port }],
    listen: [{ ...service, port }],
    client: { tls: { verify: false, ...tls }, concurrency: 1, keepAlive: false },
  });
  device.close();
  expect(both.clients.map(({ responseIsOurs }) => responseIsOurs)).toEqual([true, true, true, true]);
  return { seen, clients: both.clients };
};

it.each([
  ['ticket', 'TLSv1.2'],
  ['psk', 'TLSv1.3'],
] as const)(
  'with %s the sessions of %s are resumed, which have no fingerprint of a full hello',
  async (resumption, version) => {
    const { seen, clients } = await attemptsThrough({ resumption }, version);
    const connections = [...seen.values()];
    expect(Math.max(...connections.map(({ length }) => length))).toBeGreaterThanOrEqual(4);
    for (const ofName of connections) expect(ofName).toEqual(ofName.map((_, index) => index > 0));
    expect(clients.slice(1).map((one) => one.tls)).toEqual([undefined, undefined, undefined]);
  },
);

it('sessions are not resumed unless that is asked for', async () => {
  const { seen, clients } = await attemptsThrough({}, 'TLSv1.3');
  for (const ofName of seen.values()) expect(ofName).toEqual(ofName.map(() => false));
  expect(clients.filter((one) => one.tls === undefined)).toEqual([]);
});
