import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { createMmsgTransport } from '../datagram/mmsg-transport.ts';
import type { HostNetwork } from '../host-network.ts';
import { createSelfSigned } from '../tls/self-signed.ts';
import { createClient, echo, identity, listenForEchoes, open } from './testing/quic-pair.ts';

const closers: (() => Promise<void>)[] = [];
const keep = <T extends { close(): Promise<void> }>(closable: T): T => {
  closers.push(() => closable.close());
  return closable;
};
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** Sends a datagram and resolves with the answer. */
const ask = async (port: number, bytes: Uint8Array): Promise<Buffer> => {
  const socket = createSocket('udp4');
  socket.send(bytes, port, '127.0.0.1');
  const [answer] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  return answer;
};

describe('QUIC', () => {
  it.each([0, 1, 1200, 70_000, 3_000_000])('carries %i bytes there and back', async (length) => {
    const server = keep(await listenForEchoes());
    const connection = await open(keep(createClient()), server.port);
    const bytes = Buffer.from(Array.from({ length }, (_, index) => index * 7));
    expect((await echo(connection, bytes)).equals(bytes)).toBe(true);
  });

  it('carries more streams than the peer allows at once, over IPv6 too', async () => {
    const server = keep(await listenForEchoes({}, '::1'));
    const connection = await open(keep(createClient()), server.port, { address: '::1' });
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, index) => echo(connection, Buffer.from(String(index)))),
    );
    expect(answers.map(String)).toEqual(Array.from({ length: 500 }, (_, index) => String(index)));
  });

  it('proves the address of clients by Retry', async () => {
    const server = keep(await listenForEchoes({ sendsRetry: true }));
    const connection = await open(keep(createClient()), server.port);
    expect(String(await echo(connection, Buffer.from('again')))).toBe('again');
  });

  it('goes on from other ports, where the server follows', async () => {
    const moves = { client: 0, server: 0 };
    const server = keep(await listenForEchoes({ onMove: () => void moves.server++ }));
    const client = keep(createClient({}, { moveMs: 200, onMove: () => void moves.client++ }));
    const connection = await open(client, server.port);
    const bytes = Buffer.alloc(20_000, 'abc');
    for (const end = performance.now() + 1100; performance.now() < end; )
      expect((await echo(connection, bytes)).equals(bytes)).toBe(true);
    expect(moves.client).toBeGreaterThanOrEqual(4);
    expect(moves.client - moves.server).toBeLessThanOrEqual(1);
    expect(server.closed).toEqual([]);
  });

  it('resumes sessions', async () => {
    const server = keep(await listenForEchoes());
    const client = keep(createClient({ resumption: 'psk' }));
    const resumed: boolean[] = [];
    for (let count = 0; count < 3; count++) {
      const connection = await open(client, server.port);
      await echo(connection, Buffer.alloc(5000));
      resumed.push(connection.handshake().isResumed);
      connection.close(0);
    }
    expect(resumed).toEqual([false, true, true]);
  });

  it('says why a handshake failed, on both sides', async () => {
    const errors: string[] = [];
    const server = keep(await listenForEchoes({ onHandshakeError: (code) => void errors.push(code) }));
    const trusting = keep(createClient({ verify: true, ca: identity.certificate }));
    expect((await open(trusting, server.port)).handshake()).toMatchObject({ alpn: 'echo', version: 'TLSv1.3' });
    const stranger = keep(createClient({ verify: true, ca: createSelfSigned(['localhost']).certificate }));
    // The packet that tells the server why is sent once, and may be lost.
    const refuse = async () => {
      await expect(open(stranger, server.port)).rejects.toThrow('DEPTH_ZERO_SELF_SIGNED_CERT');
      return errors;
    };
    await expect.poll(refuse, { interval: 500 }).toContain('alert.unknownCa');
    const other = keep(createClient({ sni: 'other.test', verify: true, ca: identity.certificate }));
    await expect(open(other, server.port)).rejects.toThrow('ERR_TLS_CERT_ALTNAME_INVALID');
    const foreign = createClient({}, { alpn: ['other'] });
    // OpenSSL tells clients of failures in their first flight only sometimes.
    const unanswered = open(foreign, server.port).catch(() => {});
    await expect.poll(() => errors).toContain('alert.noApplicationProtocol');
    await foreign.close();
    await unanswered;
  });

  it('tells the other side of a close, with its code', async () => {
    const server = keep(await listenForEchoes());
    const client = keep(createClient());
    for (const code of [0x100, 0x102]) {
      const connection = await open(client, server.port);
      await echo(connection, Buffer.alloc(10));
      connection.close(code);
    }
    await expect.poll(() => server.closed).toEqual([undefined, 'quic.0x102']);
  });

  it.each([
    ['sockets that OpenSSL uses', undefined],
    ['a transport of datagrams', { createDatagrams: createMmsgTransport } as HostNetwork],
  ])('tells the other side of an end at once, over %s', async (_, hostNetwork) => {
    const server = await listenForEchoes({ hostNetwork });
    const client = keep(createClient({}, { hostNetwork }));
    const ends: (string | undefined)[] = [];
    const onClose = (code: string | undefined) => void ends.push(code);
    const [first, second] = [await open(client, server.port), await open(client, server.port, { onClose })];
    await Promise.all([first, second].map((connection) => echo(connection, Buffer.alloc(10))));
    first.close(0x102);
    await expect.poll(() => server.closed, { timeout: 5000 }).toEqual(['quic.0x102']);
    await server.close();
    await expect.poll(() => ends, { timeout: 5000 }).toEqual([undefined]);
  });

  it('offers its version to those who ask for another', async () => {
    const { port } = keep(await listenForEchoes());
    const initial = Buffer.alloc(1200);
    initial.set([0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8, 1, 2, 3, 4, 5, 6, 7, 8, 4, 9, 9, 9, 9]);
    const answer = await ask(port, initial);
    expect(answer.readUInt32BE(1)).toBe(0);
    expect(answer.subarray(5, 19).toString('hex')).toBe('04090909090801020304050607'.padEnd(26, '0').concat('08'));
    expect(answer.readUInt32BE(19)).toBe(1);
  });

  it('gives up where a server offers other versions only', async () => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    closers.push(async () => void socket.close());
    socket.on('message', (bytes, { port, address }) => {
      const destination = bytes.subarray(5, 6 + (bytes[5] as number));
      const source = bytes.subarray(
        5 + destination.length,
        6 + destination.length + (bytes[5 + destination.length] as number),
      );
      const offer = [Buffer.of(0xc0, 0, 0, 0, 0), source, destination, Buffer.of(0x1a, 0x2a, 0x3a, 0x4a)];
      socket.send(Buffer.concat(offer), port, address);
    });
    const opening = open(keep(createClient()), socket.address().port);
    await expect(opening).rejects.toThrow('quic.connectionRefused');
  });

  /** Two fifths of all that is changed in the long form: RUSHHOUR_SECURE_MUTATIONS=500000. */
  const mutations = (Number(process.env['RUSHHOUR_SECURE_MUTATIONS'] ?? 0) * 2) / 5;

  it(
    'survives changed datagrams, and leaves nothing behind',
    () => {
      const script = new URL('./testing/mutate-datagrams.ts', import.meta.url).pathname;
      const datagrams = String(Math.max(20_000, mutations));
      const result = spawnSync(process.execPath, [script, '200', datagrams, '7'], { encoding: 'utf8' });
      expect(result.signal, result.stderr).toBeNull();
      expect(result.status, result.stderr).toBe(0);
      const counts = JSON.parse(result.stdout) as Record<string, number>;
      expect(counts['mutated']).toBeGreaterThan(100);
      expect(counts['echoed']).toBeGreaterThan(150);
      expect(counts['echoedAfter']).toBe(1);
      expect(counts['grownBytes']).toBeLessThan(16_000_000);
    },
    120_000 + mutations * 10,
  );
});
