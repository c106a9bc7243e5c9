import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { setImmediate as pause } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { TlsEapClient } from '@rushhour/wire';
import { describe, expect, it } from 'vitest';
import { createSelfSigned } from '../tls/self-signed.ts';
import { createEapContext, createEapTls } from './eap-tls.ts';

const request = 1;
const tlsType = 13;
const flag = { length: 0x80, more: 0x40, start: 0x20 };
const none = Buffer.alloc(0);
const headBytes = 6;
const lengthBytes = 4;

/** An EAP server around TLS of Node: what TLS writes is collected for the next request. */
const createServer = (own: { certificate: string; privateKey: string }, version: 'TLSv1.2' | 'TLSv1.3') => {
  const output: Buffer[] = [];
  const wire = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      output.push(bytes);
      done();
    },
  });
  const { certificate: cert, privateKey: key } = own;
  const options = { cert, key, ca: cert, isServer: true, requestCert: true, rejectUnauthorized: true } as const;
  const socket = new TLSSocket(wire as never, { ...options, minVersion: version, maxVersion: version });
  const failed = once(socket, 'error');
  return { socket, wire, failed, take: () => Buffer.concat(output.splice(0)) };
};

const packet = (id: number, flags: number, data: Uint8Array) => {
  const length = headBytes + data.length;
  return Buffer.concat([Buffer.of(request, id, length >>> 8, length & 255, tlsType, flags), data]);
};

const login = async (version: 'TLSv1.2' | 'TLSv1.3', ca?: string) => {
  const own = createSelfSigned(['user.test']);
  const server = createServer(own, version);
  const tls = createEapTls(createEapContext({ ...own, ca: ca ?? own.certificate }));
  const client = new TlsEapClient({ identity: 'user.test', tls });
  let answer = client.receive(packet(1, flag.start, none));
  for (let id = 2; id < 20; id++) {
    if (answer.kind !== 'respond') throw new Error(answer.kind);
    const flags = answer.packet[headBytes - 1] ?? 0;
    server.wire.push(answer.packet.subarray(headBytes + ((flags & flag.length) !== 0 ? lengthBytes : 0)));
    for (let i = 0; i < 20; i++) await pause();
    const flight = server.take();
    if (flight.length === 0 && (flags & flag.more) === 0) break;
    answer = client.receive(packet(id, 0, flight));
  }
  return { client, server };
};

describe('a client of EAP-TLS', () => {
  it.each([
    ['TLSv1.2', 'client EAP encryption', undefined],
    ['TLSv1.3', 'EXPORTER_EAP_TLS_Key_Material', Buffer.of(tlsType)],
  ] as const)('has the key of the server after %s', async (version, label, context) => {
    const { client, server } = await login(version);
    expect(server.socket.getPeerX509Certificate()?.subjectAltName).toContain('user.test');
    const key = server.socket.exportKeyingMaterial(128, label, context as Buffer).subarray(0, 64);
    expect(client.receive(Uint8Array.of(3, 9, 0, 4))).toEqual({ kind: 'succeeded', key: new Uint8Array(key) });
    client.close();
  });

  it('says that the server is not trusted', async () => {
    const { client, server } = await login('TLSv1.2', createSelfSigned(['other.test']).certificate);
    await server.failed;
    const end = client.receive(Uint8Array.of(4, 9, 0, 4));
    expect(end.kind === 'failed' && end.cause).toMatch(/CERT|SIGNATURE|ISSUER/);
  });
});
