import { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { createSecureDialer } from '../../../net/secure-dialer.ts';
import { readAnswer } from '../protocols/read-answer.ts';
import { type AttackRoute, ClientConnection } from './client-connection.ts';

const request = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok';

/** A peer that answers and closes before the write of the request is reported, as when all comes in one batch. */
class HastyPeer extends Duplex {
  readonly #isWritten: boolean;

  constructor(isWritten: boolean) {
    super({ allowHalfOpen: true });
    this.#isWritten = isWritten;
    setImmediate(() => this.emit('connect'));
  }

  override _read(): void {}

  override _write(_bytes: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.push(answer);
    this.push(null);
    this.once('end', () => setImmediate(() => done(this.#isWritten ? undefined : new Error('EPIPE'))));
  }
}

const open = (isWritten: boolean) => {
  const via = { dial: () => new HastyPeer(isWritten), createDatagramSocket: () => expect.fail('not used') };
  const route: AttackRoute = {
    ...{ host: 'a', address: '192.0.2.1', port: 80, transport: 'tcp', isTls: false, timeoutMs: 5000, via },
  };
  const settings = { versions: ['1.3' as const], alpn: [], verify: false, resumption: 'none' as const };
  const dialer = createSecureDialer(settings, { note: () => {} });
  return ClientConnection.open(route, { dialer, signal: new AbortController().signal });
};

it('a request is written, and its answer read, although the peer has closed before the write is reported', async () => {
  const connection = await open(true);
  expect(await connection.write(request)).toBe(true);
  expect(connection.sentBytes).toBe(request.length);
  expect(await readAnswer(connection, 'GET')).toMatchObject({ startLine: 'HTTP/1.1 200 OK' });
  expect(connection.end).toBe('fin');
});

it('a request that fails after the peer has closed is not written', async () => {
  const connection = await open(false);
  expect(await connection.write(request)).toBe(false);
  expect(connection.sentBytes).toBe(0);
});
