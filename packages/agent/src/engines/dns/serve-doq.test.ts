import { describe, expect, it } from 'vitest';
import type { QuicConnection, QuicStream } from '../../net/quic/quic.ts';
import type { Resolver } from './resolver.ts';
import { serveDoq } from './serve-doq.ts';

/** One stream of a connection, as the server of DNS over QUIC sees it. */
const openStream = () => {
  const seen = { errors: [] as string[], closed: [] as number[], asked: 0 };
  const connection = { close: (code: number) => void seen.closed.push(code) } as unknown as QuicConnection;
  const resolver = { resolve: () => void seen.asked++ } as unknown as Resolver;
  const events = serveDoq(connection, resolver, (code) => void seen.errors.push(code));
  const stream = events.onStream({} as QuicStream, false);
  return { seen, feed: (bytes: Buffer, isEnd = false) => stream.onData(bytes, 0, bytes.length, isEnd) };
};

const query = (length: number, id = 0): Buffer => {
  const framed = Buffer.alloc(length + 2);
  framed.writeUInt16BE(length, 0);
  framed.writeUInt16BE(id, 2);
  return framed;
};

describe('a stream of DNS over QUIC', () => {
  it('carries a query of up to 65,535 bytes in any parts', () => {
    const { seen, feed } = openStream();
    const bytes = query(65_535);
    for (let at = 0; at < bytes.length; at += 10_000) feed(bytes.subarray(at, at + 10_000));
    feed(Buffer.alloc(0), true);
    expect(seen).toEqual({ errors: [], closed: [], asked: 1 });
  });

  it('ends the connection once it is longer than any message, and is not kept any further', () => {
    const { seen, feed } = openStream();
    for (let part = 0; part < 100; part++) feed(Buffer.alloc(10_000));
    feed(Buffer.alloc(0), true);
    expect(seen).toEqual({ errors: ['protocol'], closed: [2], asked: 0 });
  });

  it.each([
    ['shorter than its length says', query(40).subarray(0, 30)],
    ['longer than its length says', Buffer.concat([query(40), Buffer.alloc(1)])],
    ['with a number of its own', query(40, 7)],
    ['without a header', query(5)],
  ])('ends the connection for a message %s', (_name, bytes) => {
    const { seen, feed } = openStream();
    feed(bytes, true);
    expect(seen).toEqual({ errors: ['protocol'], closed: [2], asked: 0 });
  });
});
