import { expect, it } from 'vitest';
import { createSelfSigned } from '../tls/self-signed.ts';
import { alertName } from './alerts.ts';
import { createMemoryTransport, MemoryNetwork } from './testing/memory-transport.ts';
import { createTlsClientTransport, createTlsServerTransport } from './tls-transport.ts';

/** The extension with which a client offers TLS 1.3: its type, its length, two versions. */
const supportedVersions = Buffer.from('002b00050403040303', 'hex');
const unknownType = 0xfa;

/** Handshakes through a device that changes the first message of the client. */
const shake = async (change: (hello: Buffer) => void) => {
  let isFirst = true;
  const network = new MemoryNetwork((bytes) => {
    if (isFirst) change(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    isFirst = false;
    return bytes;
  });
  const inner = createMemoryTransport(network);
  const common = { versions: ['1.2', '1.3'] as ('1.2' | '1.3')[], alpn: [] };
  const seen = { versions: [] as string[], sent: [] as string[], failures: 0, code: undefined as string | undefined };
  const server = createTlsServerTransport(inner, {
    alpn: [],
    settings: { ...common, ...createSelfSigned(['localhost']), requestClientCertificate: false, tickets: true },
    onHandshakeError: () => void seen.failures++,
  });
  const client = createTlsClientTransport(inner, {
    alpn: [],
    settings: { ...common, groups: 'X25519:P-256', verify: false, resumption: 'none' },
    onAlert: (direction, alert) => void (direction === 'sent' && seen.sent.push(alertName(alert))),
  });
  await server.listen({ host: '', port: 0, isShared: false }, () => ({ onOpen() {}, onData() {}, onClose() {} }));
  const connection = client.connect(
    { address: 'a', port: 1 },
    {
      onOpen: () => void seen.versions.push(connection.handshake?.().version ?? ''),
      onData() {},
      onClose: (code) => {
        seen.code = code;
      },
    },
  );
  network.run();
  await client.close();
  await server.close();
  return seen;
};

it('a client does not let a device take TLS 1.3 out of what it offers', async () => {
  expect(await shake(() => {})).toMatchObject({ versions: ['1.3'], failures: 0 });
  const changed = await shake((hello) => {
    const at = hello.indexOf(supportedVersions);
    expect(at).toBeGreaterThan(0);
    hello[at] = unknownType;
  });
  expect(changed).toMatchObject({ versions: [], sent: ['illegalParameter'], failures: 1 });
  expect(changed.code).toMatch(/^ERR_SSL_/);
});
