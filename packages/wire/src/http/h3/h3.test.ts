import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Header } from '../hpack.ts';
import { H3Connection } from './h3-connection.ts';
import type { H3Events } from './h3-events.ts';
import { h3Error } from './h3-frame.ts';
import { QpackDecoder } from './qpack-decoder.ts';
import { QpackEncoder } from './qpack-encoder.ts';
import { qpackStaticTable } from './qpack-table.ts';

const hex = (text: string) =>
  Uint8Array.from(text.replaceAll(' ', '').match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hexOf = (bytes: Uint8Array = new Uint8Array(0)) =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

describe('QPACK', () => {
  it('has the static table of RFC 9204', () => {
    expect(qpackStaticTable).toHaveLength(99);
    const known: Record<number, Header> = {
      1: [':path', '/'],
      17: [':method', 'GET'],
      25: [':status', '200'],
      44: ['content-type', 'application/dns-message'],
      63: [':status', '100'],
      71: [':status', '500'],
      84: ['authorization', ''],
      95: ['user-agent', ''],
      98: ['x-frame-options', 'sameorigin'],
    };
    for (const [index, header] of Object.entries(known)) expect(qpackStaticTable[Number(index)]).toEqual(header);
  });

  it('reads the examples of appendix B of RFC 9204', () => {
    const decoder = new QpackDecoder({ maxTableBytes: 220 });
    const feed = (text: string) => decoder.feed(hex(text), 0, hex(text).length);
    const decode = (stream: number, text: string) => decoder.decode(stream, hex(text), 0, hex(text).length);
    expect(decode(0, '0000 510b 2f69 6e64 6578 2e68 746d 6c')).toEqual([[':path', '/index.html']]);
    expect(decoder.takeOutput()).toBeUndefined();
    expect(decode(4, '0381 10 11')).toBeUndefined();
    // The capacity and two entries, in two parts.
    feed('3fbd01 c00f 7777 772e 6578 616d 706c 652e');
    feed('636f 6d c10c 2f73 616d 706c 652f 7061 7468');
    const authority: Header = [':authority', 'www.example.com'];
    expect(decode(4, '0381 10 11')).toEqual([authority, [':path', '/sample/path']]);
    expect(hexOf(decoder.takeOutput())).toBe('0284');
    feed('4a63 7573 746f 6d2d 6b65 790c 6375 7374 6f6d 2d76 616c 7565');
    feed('02');
    expect(decode(8, '0500 80 c1 81')).toEqual([authority, [':path', '/'], ['custom-key', 'custom-value']]);
    feed('810d 6375 7374 6f6d 2d76 616c 7565 32');
    expect(hexOf(decoder.takeOutput())).toBe('01018801');
    expect(decode(12, '0600 80')).toEqual([['custom-key', 'custom-value2']]);
  });

  const text = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
  const header = fc.oneof(
    fc.tuple(text, text) as fc.Arbitrary<Header>,
    fc.tuple(fc.constantFrom('a', 'b', ':path', 'cookie', 'set-cookie'), fc.constantFrom('1', '2', 'three')),
  ) as fc.Arbitrary<Header>;

  it('reads back what was written, on tables of all sizes, with answers that arrive late', () => {
    const lists = fc.array(fc.tuple(fc.array(header, { maxLength: 8 }), fc.boolean()), { maxLength: 25 });
    fc.assert(
      fc.property(lists, fc.constantFrom(0, 64, 150, 300, 4096), (messages, maxTableBytes) => {
        const [encoder, decoder] = [new QpackEncoder(), new QpackDecoder({ maxTableBytes, maxListBytes: 10_000_000 })];
        encoder.allow(maxTableBytes);
        let stream = 0;
        for (const [list, answers] of [...messages, ...messages]) {
          const block = encoder.encode(stream, list);
          const instructions = encoder.takeOutput();
          if (instructions !== undefined) decoder.feed(instructions, 0, instructions.length);
          expect(decoder.decode(stream, block, 0, block.length)).toEqual(list);
          const output = answers ? decoder.takeOutput() : undefined;
          if (output !== undefined) encoder.feed(output, 0, output.length);
          stream += 4;
        }
      }),
    );
  });

  it('writes less once the peer has the headers', () => {
    const [encoder, decoder] = [new QpackEncoder(), new QpackDecoder({ maxTableBytes: 4096 })];
    const list: Header[] = [
      ['x-one', 'a long value that repeats'],
      ['x-two', 'another long value'],
    ];
    encoder.allow(4096);
    const first = encoder.encode(0, list);
    const instructions = encoder.takeOutput() as Uint8Array;
    decoder.feed(instructions, 0, instructions.length);
    const output = decoder.takeOutput() as Uint8Array;
    encoder.feed(output, 0, output.length);
    const second = encoder.encode(4, list);
    expect(first.length).toBeGreaterThan(30);
    expect(second.length).toBe(4);
    expect(encoder.encode(8, list)).toBe(second);
    expect(decoder.decode(4, second, 0, second.length)).toEqual(list);
  });

  it('refuses every changed block and instruction, or reads something else', () => {
    const good = [hex('0381 10 11'), hex('0000 510b 2f69 6e64 6578 2e68 746d 6c'), hex('3fbd01c00f777777c10c2f73')];
    const change = fc.tuple(fc.nat(20), fc.nat(255));
    fc.assert(
      fc.property(fc.constantFrom(...good), fc.array(change, { maxLength: 5 }), (bytes, changes) => {
        const mutated = Uint8Array.from(bytes);
        for (const [at, value] of changes) if (at < mutated.length) mutated[at] = value;
        for (const act of ['feed', 'decode'] as const) {
          const decoder = new QpackDecoder({ maxTableBytes: 220 });
          try {
            if (act === 'feed') decoder.feed(mutated, 0, mutated.length);
            else decoder.decode(0, mutated, 0, mutated.length);
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
          }
        }
      }),
      { numRuns: 20_000 },
    );
  });
});

interface Written {
  readonly stream: number;
  readonly bytes: Uint8Array;
  readonly isEnd: boolean;
}

/** A side whose output is collected. */
const createSide = (isServer: boolean, events: Partial<H3Events> = {}) => {
  const log: string[] = [];
  const out: Written[] = [];
  const resets: [number, number][] = [];
  let nextStream = isServer ? 3 : 2;
  const h3: H3Connection = new H3Connection(
    {
      isServer,
      openStream: () => {
        nextStream += 4;
        return nextStream - 4;
      },
      write: (stream, bytes, isEnd) => out.push({ stream, bytes: bytes.slice(), isEnd }),
      reset: (stream, code) => resets.push([stream, code]),
    },
    {
      onHeaders: (stream, headers, isEnd) => log.push(`${stream} ${headers.join(';')} ${isEnd}`),
      onBody: (stream, bytes, start, end, isEnd) =>
        log.push(`${stream} body ${String.fromCharCode(...bytes.subarray(start, end))} ${isEnd}`),
      onTrailers: (stream, headers) => log.push(`${stream} trailers ${headers.join(';')}`),
      onReset: (stream, code) => log.push(`${stream} reset ${code.toString(16)}`),
      onGoaway: (stream) => log.push(`goaway ${stream}`),
      ...events,
    },
  );
  return { h3, log, out, resets };
};

type Side = ReturnType<typeof createSide>;

/** Carries everything that was written, in parts of `size` bytes. */
const carry = (from: Side, to: Side, size = 1_000_000): void => {
  for (const { stream, bytes, isEnd } of from.out.splice(0)) {
    for (let at = 0; at < bytes.length || at === 0; at += size) {
      const end = Math.min(bytes.length, at + size);
      expect(to.h3.feed(stream, bytes, at, end, isEnd && end === bytes.length)).toBeUndefined();
    }
  }
};

const request: Header[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'a.test'],
  [':path', '/'],
  ['user-agent', 'rushhour'],
];

describe('HTTP/3', () => {
  it.each([1, 2, 7, 1_000_000])('carries requests and responses in parts of %i bytes', (size) => {
    const client = createSide(false);
    const server = createSide(true, {
      onHeaders: (stream, headers, isEnd) => {
        server.log.push(`${stream} ${headers.length} ${isEnd}`);
        if (isEnd)
          server.h3.respond(
            stream,
            [
              [':status', '200'],
              ['server', 'x'],
            ],
            Uint8Array.of(104, 105),
          );
      },
    });
    client.h3.start();
    server.h3.start();
    for (let stream = 0; stream < 20; stream += 4) {
      client.h3.request(stream, request);
      carry(client, server, size);
      carry(server, client, size);
      // Acknowledgements of the tables.
      carry(client, server, size);
    }
    expect(server.log).toEqual([0, 4, 8, 12, 16].map((stream) => `${stream} 5 true`));
    const bodies = client.log.filter((line) => line.includes('body'));
    expect(bodies.map((line) => line.replaceAll(/\d+ body | (true|false)/g, '')).join('')).toBe('hi'.repeat(5));
    expect(client.log.filter((line) => line.endsWith('true'))).toHaveLength(5);
    expect(client.h3.openRequests + server.h3.openRequests).toBe(0);
  });

  it('waits for entries of the table that come after the block, while the memory of received bytes is reused', () => {
    const server = createSide(true);
    server.h3.start();
    const memory = Buffer.alloc(64);
    const feed = (stream: number, text: string, isEnd = false) => {
      memory.fill(0xff).set(hex(text));
      return server.h3.feed(stream, memory, 0, hex(text).length, isEnd);
    };
    expect(feed(2, '00 0400')).toBeUndefined();
    // GET https / with the first entry of the table as authority, then a body.
    expect(feed(0, '0106 0200 d1 d7 c1 80 0001 68')).toBeUndefined();
    expect(feed(0, '0001 69', true)).toBeUndefined();
    expect(server.log).toEqual([]);
    expect(feed(6, '02 3fe11f c0 01')).toBeUndefined();
    expect(server.log).toEqual([]);
    expect(feed(6, '61')).toBeUndefined();
    expect(server.log).toEqual([
      '0 :method,GET;:scheme,https;:path,/;:authority,a false',
      '0 body h false',
      '0 body i false',
      '0 body  true',
    ]);
    expect(hexOf(server.out.at(-1)?.bytes)).toBe('0180');
  });

  it('takes requests in any order: a lost packet delays only its own', () => {
    const server = createSide(true);
    server.h3.start();
    for (const stream of [8, 0, 4]) {
      const bytes = hex('0105 0000 d1 d7 c1');
      expect(server.h3.feed(stream, bytes, 0, bytes.length, true)).toBeUndefined();
    }
    expect(server.log).toEqual([8, 0, 4].map((stream) => `${stream} :method,GET;:scheme,https;:path,/ true`));
  });

  it('takes bodies in parts, also empty ones', () => {
    const [client, server] = [createSide(false), createSide(true)];
    server.h3.start();
    client.h3.start();
    client.h3.request(0, request);
    carry(client, server);
    server.h3.respond(0, [[':status', '200']], undefined, false);
    for (const [text, isLast] of [
      ['', false],
      ['ab', false],
      ['', true],
    ] as const)
      server.h3.data(
        0,
        Uint8Array.from(text, (letter) => letter.charCodeAt(0)),
        isLast,
      );
    carry(server, client);
    expect(client.log.at(0)).toBe('0 :status,200 false');
    expect(client.log.filter((line) => line.startsWith('0 body'))).toContain('0 body ab false');
    expect(client.log.at(-1)).toBe('0 body  true');
    expect(client.log.filter((line) => line.endsWith('true'))).toHaveLength(1);
  });

  it('carries trailers, bodies of the declared length only, and resets', () => {
    const server = createSide(true);
    server.h3.start();
    const feed = (stream: number, text: string, isEnd = false) =>
      server.h3.feed(stream, hex(text), 0, hex(text).length, isEnd);
    feed(2, '00 0400');
    // GET https / without authority.
    feed(0, '0105 0000 d1 d7 c1 0001 61 0108 0000 23 782d61 01 62', true);
    expect(server.log.splice(0)).toEqual([
      '0 :method,GET;:scheme,https;:path,/ false',
      '0 body a false',
      '0 trailers x-a,b',
      '0 body  true',
    ]);
    feed(4, '0106 0000 d1 d7 c1 c4 0001 61', true);
    expect(server.resets).toEqual([[4, h3Error.message]]);
    feed(8, '0105 0000 d1 d7 c1');
    server.h3.onReset(8, h3Error.requestCancelled);
    expect(server.log.slice(-1)).toEqual(['8 reset 10c']);
  });

  it.each([
    ['a first frame without settings', 2, '00 0701 00', h3Error.missingSettings],
    ['settings twice', 2, '00 0400 0400', h3Error.frameUnexpected],
    ['a setting of HTTP/2', 2, '00 0402 0201', h3Error.settings],
    ['a setting twice', 2, '00 0404 0100 0100', h3Error.settings],
    ['a cut setting', 2, '00 0401 01', h3Error.frame],
    ['data on the control stream', 2, '00 0400 0001 61', h3Error.frameUnexpected],
    ['a push of a client', 2, '01', h3Error.streamCreation],
    ['a frame of HTTP/2', 0, '0600', h3Error.frameUnexpected],
    ['data before headers', 0, '0001 61', h3Error.frameUnexpected],
    ['settings in a request', 0, '0400', h3Error.frameUnexpected],
    ['a static header that is not there', 0, '0104 0000 ff 24', h3Error.decompressionFailed],
    ['a table that is too large', 2, '02 3fe2 7f', h3Error.encoderStream],
    ['an acknowledgement of nothing', 2, '03 84', h3Error.decoderStream],
  ])('refuses %s', (_name, stream, text, code) => {
    const server = createSide(true);
    server.h3.start();
    expect(server.h3.feed(stream, hex(text), 0, hex(text).length, false)?.code).toBe(code);
  });

  it('refuses the end of a critical stream and a second one', () => {
    const server = createSide(true);
    server.h3.start();
    server.h3.feed(2, hex('00 0400'), 0, 3, false);
    expect(server.h3.feed(6, hex('00'), 0, 1, false)?.code).toBe(h3Error.streamCreation);
    const other = createSide(true);
    other.h3.start();
    expect(other.h3.feed(2, hex('00 0400'), 0, 3, true)?.code).toBe(h3Error.closedCriticalStream);
  });

  it('gives back requests that a GOAWAY excludes', () => {
    const client = createSide(false);
    client.h3.start();
    client.h3.request(0, request);
    client.h3.request(4, request);
    expect(client.h3.feed(3, hex('00 0400 0701 04'), 0, 6, false)).toBeUndefined();
    expect(client.log).toEqual(['4 reset 10b', 'goaway 4']);
  });

  it('ends in an event, a reset or an error of the connection, whatever is changed', () => {
    const client = createSide(false);
    client.h3.start();
    client.h3.request(0, request, Uint8Array.of(1, 2, 3));
    const parts = client.out;
    const change = fc.tuple(fc.nat(60), fc.nat(255));
    fc.assert(
      fc.property(fc.nat(parts.length - 1), fc.array(change, { minLength: 1, maxLength: 6 }), (which, changes) => {
        const server = createSide(true);
        server.h3.start();
        for (const [index, { stream, bytes, isEnd }] of parts.entries()) {
          const mutated = bytes.slice();
          for (const [at, value] of index === which ? changes : []) if (at < mutated.length) mutated[at] = value;
          server.h3.feed(stream, mutated, 0, mutated.length, isEnd);
        }
        expect(server.resets.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 20_000 },
    );
  });
});
