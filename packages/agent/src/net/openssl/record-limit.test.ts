import type { TlsVersion } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { createSelfSigned } from '../tls/self-signed.ts';
import { alertName } from './alerts.ts';
import { createMemoryTransport, MemoryNetwork } from './testing/memory-transport.ts';
import { createTlsClientTransport, createTlsServerTransport } from './tls-transport.ts';

const identity = createSelfSigned(['localhost']);
const text = Buffer.from('x'.repeat(40_000));
const applicationData = 23;
const headBytes = 5;
/** With AES-GCM: a tag, and a nonce or the type of the content. */
const overhead = { '1.2': 24, '1.3': 17 } as const;

/** Lengths of the records of data in a write. */
const recordsIn = (bytes: Uint8Array): number[] => {
  const lengths: number[] = [];
  for (let at = 0; at + headBytes <= bytes.length; ) {
    const length = ((bytes[at + 3] as number) << 8) | (bytes[at + 4] as number);
    if (bytes[at] === applicationData) lengths.push(length);
    at += headBytes + length;
  }
  return lengths;
};

interface Limits {
  readonly client?: number;
  readonly server?: number;
  readonly change?: (hello: Buffer) => void;
}

/** Both sides send a text; returns the most data in a record of each. */
const exchange = async (version: TlsVersion, { client: asked, server: asking, change }: Limits) => {
  const seen = { client: 0, server: 0, received: 0, code: undefined as string | undefined, sent: [] as string[] };
  let sender: 'client' | 'server' | undefined;
  let isFirst = true;
  const network = new MemoryNetwork((bytes) => {
    if (isFirst) change?.(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    isFirst = false;
    if (sender !== undefined) seen[sender] = Math.max(seen[sender], ...recordsIn(bytes));
    return bytes;
  });
  const inner = createMemoryTransport(network);
  const settings = { versions: [version], alpn: [], ciphers: 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256' };
  const limitOf = (recordSizeLimit: number | undefined) => (recordSizeLimit === undefined ? {} : { recordSizeLimit });
  const server = createTlsServerTransport(inner, {
    alpn: [],
    settings: { ...settings, ...identity, ...limitOf(asking), requestClientCertificate: false, tickets: false },
    onAlert: (direction, number) => void (direction === 'sent' && seen.sent.push(alertName(number))),
  });
  const client = createTlsClientTransport(inner, {
    alpn: [],
    settings: { ...settings, ...limitOf(asked), verify: false, resumption: 'none' },
  });
  const send = (from: 'client' | 'server', write: (bytes: Buffer) => void) => {
    sender = from;
    write(text);
    sender = undefined;
  };
  await server.listen({ host: '', port: 0, isShared: false }, (accepted) => {
    let left = text.length;
    return {
      onOpen() {},
      onData({ start, end }) {
        left -= end - start;
        if (left === 0) send('server', (bytes) => accepted.writeCopy(bytes));
      },
      onClose() {},
    };
  });
  const connection = client.connect(
    { address: 'a', port: 1 },
    {
      onOpen: () => send('client', (bytes) => connection.writeCopy(bytes)),
      onData({ start, end }) {
        seen.received += end - start;
      },
      onClose(code) {
        seen.code = code;
      },
    },
  );
  network.run();
  await client.close();
  await server.close();
  return { ...seen, client: seen.client - overhead[version], server: seen.server - overhead[version] };
};

describe.each(['1.2', '1.3'] as const)('records of TLS %s', (version) => {
  // A client that offers 1.3 cannot know the version of the answer: what it asks for counts one byte more.
  const spare = version === '1.2' ? 1 : 0;

  it('are as large as there is, unless a limit is asked for', async () => {
    const seen = await exchange(version, {});
    expect([seen.received, seen.client, seen.server]).toEqual([text.length, 16_384, 16_384]);
  });

  it('of both sides keep to what a client asks for', async () => {
    const seen = await exchange(version, { client: 1000 });
    expect([seen.received, seen.client, seen.server]).toEqual([text.length, 1000, 1000 + spare]);
  });

  it('of each side keep to the limits of both', async () => {
    const seen = await exchange(version, { client: 4000, server: 700 });
    expect([seen.received, seen.client, seen.server]).toEqual([text.length, 700, 700]);
  });

  it.each([
    [63, 'illegalParameter'],
    [511, 'handshakeFailure'],
  ])('cannot be limited to %i bytes', async (limit, alert) => {
    const extension = Buffer.from('001c0002', 'hex');
    const seen = await exchange(version, {
      client: 1000,
      change: (hello) => hello.writeUInt16BE(limit, hello.indexOf(extension) + extension.length),
    });
    expect(seen.received).toBe(0);
    expect(seen.sent).toContain(alert);
    expect(seen.code).toBe(`alert.${alert}`);
  });
});
