import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { H2Connection } from './h2/h2-connection.ts';
import { frameType, h2Error } from './h2/h2-frame.ts';
import { HeaderReader, HeaderWriter } from './header-strings.ts';
import { type Header, HpackDecoder, HpackEncoder } from './hpack.ts';
import { huffmanLength, readHuffman, writeHuffman } from './huffman.ts';
import { sendable, unsendable } from './message-rules.ts';

const hex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const hexOf = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

describe('header blocks', () => {
  it('code texts as RFC 7541 does', () => {
    const bytes = new Uint8Array(64);
    const end = writeHuffman('www.example.com', bytes, 0);
    expect(hexOf(bytes.subarray(0, end))).toBe('f1e3c2e5f23a6ba0ab90f4ff');
    expect(readHuffman(bytes, 0, end)).toBe('www.example.com');
  });

  it('are those of appendix C.4 of RFC 7541, with its dynamic table', () => {
    const decoder = new HpackDecoder();
    const decode = (text: string) => decoder.decode(hex(text), 0, text.length / 2);
    const common = [
      [':method', 'GET'],
      [':scheme', 'http'],
    ];
    const authority = [':authority', 'www.example.com'];
    expect(decode('828684418cf1e3c2e5f23a6ba0ab90f4ff')).toEqual([...common, [':path', '/'], authority]);
    expect(decode('828684be5886a8eb10649cbf')).toEqual([
      ...common,
      [':path', '/'],
      authority,
      ['cache-control', 'no-cache'],
    ]);
    expect(decode('828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf')).toEqual([
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '/index.html'],
      authority,
      ['custom-key', 'custom-value'],
    ]);
  });

  it('read back what was written, on a table that overflows', () => {
    const text = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
    const header = fc.tuple(text, text) as fc.Arbitrary<Header>;
    fc.assert(
      fc.property(fc.array(fc.array(header), { maxLength: 20 }), (lists) => {
        const encoder = new HpackEncoder();
        const decoder = new HpackDecoder(10_000_000);
        encoder.allow(300);
        for (const list of lists) {
          for (let time = 0; time < 3; time++) {
            const block = encoder.encode(list);
            expect(decoder.decode(block, 0, block.length)).toEqual(list);
          }
        }
      }),
    );
  });

  it('hold integers of any size up to 2^32', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 }), fc.integer({ min: 3, max: 7 }), (value, bits) => {
        const writer = new HeaderWriter();
        writer.integer(value, bits, 0);
        const bytes = writer.take();
        const reader = new HeaderReader(bytes, 0, bytes.length);
        expect(reader.integer(reader.byte(), bits)).toBe(value);
      }),
    );
  });

  it('end in an error, never in a crash, where they are invalid', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const decoder = new HpackDecoder();
        try {
          decoder.decode(bytes, 0, bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
        expect(huffmanLength('')).toBe(0);
      }),
      { numRuns: 20_000 },
    );
  });
});

const get: readonly Header[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a'],
];

/** A client and a server that answers with `body`; bytes go to and fro until there are none. */
const createPair = (body: Uint8Array, options: { readonly windowBytes?: number } = {}) => {
  const toServer: Uint8Array[] = [];
  const toClient: Uint8Array[] = [];
  const seen = { status: [] as string[], received: 0, ended: 0, resets: [] as number[] };
  const server: H2Connection = new H2Connection(
    { isServer: true, write: (bytes) => toClient.push(bytes.slice()) },
    {
      onHeaders: (stream, _headers, isEnd) => isEnd && server.respond(stream, [[':status', '200']], body),
      onBody: (stream, _bytes, _start, _end, isEnd) => isEnd && server.respond(stream, [[':status', '201']], body),
      onReset() {},
    },
  );
  const client = new H2Connection(
    { isServer: false, write: (bytes) => toServer.push(bytes.slice()), ...options },
    {
      onHeaders: (_stream, headers, isEnd) => {
        seen.status.push(headers[0]?.[1] ?? '');
        if (isEnd) seen.ended++;
      },
      onBody: (_stream, _bytes, start, end, isEnd) => {
        seen.received += end - start;
        if (isEnd) seen.ended++;
      },
      onReset: (_stream, code) => seen.resets.push(code),
    },
  );
  server.start();
  client.start();
  const run = () => {
    client.flush();
    for (;;) {
      const [up, down] = [toServer.shift(), toClient.shift()];
      if (up === undefined && down === undefined) return;
      if (up !== undefined) server.feed(up, 0, up.length);
      if (down !== undefined) client.feed(down, 0, down.length);
    }
  };
  return { client, server, seen, run };
};

describe('headers of HTTP/1', () => {
  it.each([
    ['Content-Type', 'text/plain', ['content-type', 'text/plain']],
    ['X-Word ', ' a\r\nSet-Cookie: b\0 ', ['x-word', 'a Set-Cookie: b']],
    ['TE', 'Trailers', ['te', 'Trailers']],
    ['te', 'gzip', undefined],
    ['Connection', 'close', undefined],
    ['Keep-Alive', 'timeout=5', undefined],
    ['Proxy-Connection', 'keep-alive', undefined],
    ['Transfer-Encoding', 'chunked', undefined],
    ['Upgrade', 'h2c', undefined],
    ['HTTP2-Settings', 'AAMAAABk', undefined],
    ['Host', 'a.test', undefined],
    [':path', '/', undefined],
    ['two words', 'x', undefined],
    ['x\r\ny', 'x', undefined],
    ['', 'x', undefined],
  ])('%j: %j', (name, value, sent) => expect(sendable(name, value)).toEqual(sent));

  it('that cannot be sent are named', () => {
    expect(unsendable('X-Word', 'a\r\nb')).toBe('the value of X-Word has a line break or a zero byte');
    expect(unsendable('two words', 'x')).toBe('the name "two words" is not allowed');
    expect(unsendable('X-Word', 'x')).toBeUndefined();
  });
});

describe('connections', () => {
  it('carry many streams, and bodies larger than every window in both directions', () => {
    const body = new Uint8Array(3_000_000);
    const { client, server, seen, run } = createPair(body, { windowBytes: 20_000 });
    for (let i = 0; i < 5; i++) client.request(get);
    client.request([[':method', 'POST'], ...get.slice(1)], new Uint8Array(2_500_000));
    run();
    expect(seen.status.toSorted()).toEqual(['200', '200', '200', '200', '200', '201']);
    expect(seen.received).toBe(6 * body.length);
    expect(seen.ended).toBe(6);
    expect([client.openStreams, server.openStreams]).toEqual([0, 0]);
  });

  it('take frames that arrive byte by byte', () => {
    const sent: Uint8Array[] = [];
    const nothing = { onHeaders() {}, onBody() {}, onReset() {} };
    const client = new H2Connection({ isServer: false, write: (bytes) => sent.push(bytes.slice()) }, nothing);
    client.start();
    client.request(get);
    client.flush();
    const { server, seen } = createPair(new Uint8Array(10));
    for (const part of sent) for (const byte of part) expect(server.feed(Uint8Array.of(byte), 0, 1)).toBeUndefined();
    expect(seen.resets).toEqual([]);
    expect(server.isClosed).toBe(false);
  });
});

const frame = (type: number, flags: number, stream: number, payload = '') => {
  const body = hex(payload);
  return Uint8Array.of(0, body.length >> 8, body.length & 255, type, flags, 0, 0, 0, stream, ...body);
};
const block = '828684410161';

describe('a server refuses', () => {
  const cases: readonly [string, readonly Uint8Array[], keyof typeof h2Error][] = [
    ['a first frame without settings', [frame(frameType.ping, 0, 0, '0011223344556677')], 'protocol'],
    ['data outside of streams', [frame(frameType.settings, 0, 0), frame(frameType.data, 0, 0, '00')], 'protocol'],
    ['data of an idle stream', [frame(frameType.settings, 0, 0), frame(frameType.data, 0, 1, '00')], 'protocol'],
    ['headers outside of streams', [frame(frameType.settings, 0, 0), frame(1, 5, 0, block)], 'protocol'],
    ['an even stream', [frame(frameType.settings, 0, 0), frame(1, 5, 2, block)], 'protocol'],
    ['a closed stream', [frame(4, 0, 0), frame(1, 5, 5, block), frame(1, 5, 3, block)], 'streamClosed'],
    ['more padding than payload', [frame(4, 0, 0), frame(1, 5 | 8, 1, `ff${block}`)], 'protocol'],
    [
      'an interrupted header block',
      [frame(4, 0, 0), frame(1, 1, 1, block), frame(6, 0, 0, '0011223344556677')],
      'protocol',
    ],
    ['a continuation of nothing', [frame(4, 0, 0), frame(9, 4, 1, block)], 'protocol'],
    ['a header block that is invalid', [frame(4, 0, 0), frame(1, 5, 1, 'ff80808080808001')], 'compression'],
    ['an index that is not there', [frame(4, 0, 0), frame(1, 5, 1, 'be')], 'compression'],
    ['a reset of an idle stream', [frame(4, 0, 0), frame(3, 0, 1, '00000008')], 'protocol'],
    ['a reset of 3 bytes', [frame(4, 0, 0), frame(1, 4, 1, block), frame(3, 0, 1, '000008')], 'frameSize'],
    ['settings of a stream', [frame(4, 0, 1)], 'protocol'],
    ['settings of 5 bytes', [frame(4, 0, 0, '0001000000')], 'frameSize'],
    ['settings in an acknowledgement', [frame(4, 0, 0), frame(4, 1, 0, '000100000000')], 'frameSize'],
    ['a push that is neither on nor off', [frame(4, 0, 0, '000200000002')], 'protocol'],
    ['a window of 2^31', [frame(4, 0, 0, '000480000000')], 'flowControl'],
    ['frames of less than 16,384 bytes', [frame(4, 0, 0, '000500000010')], 'protocol'],
    ['a pushed stream', [frame(4, 0, 0), frame(5, 4, 1, `00000002${block}`)], 'protocol'],
    ['a ping of 7 bytes', [frame(4, 0, 0), frame(6, 0, 0, '00112233445566')], 'frameSize'],
    ['a window update of 0', [frame(4, 0, 0), frame(8, 0, 0, '00000000')], 'protocol'],
    ['a window beyond 2^31', [frame(4, 0, 0), frame(8, 0, 0, '7fffffff')], 'flowControl'],
    ['a GOAWAY of a stream', [frame(4, 0, 0), frame(7, 0, 1, '0000000000000000')], 'protocol'],
  ];

  const serve = (frames: readonly Uint8Array[]) => {
    const written: number[] = [];
    const requests: number[] = [];
    const server = new H2Connection(
      { isServer: true, write: (bytes) => written.push(...bytes) },
      { onHeaders: (stream) => void requests.push(stream), onBody() {}, onReset() {} },
    );
    const preface = hex('505249202a20485454502f322e300d0a0d0a534d0d0a0d0a');
    expect(server.feed(preface, 0, preface.length)).toBeUndefined();
    const errors = frames.map((bytes) => server.feed(bytes, 0, bytes.length)).filter((error) => error !== undefined);
    return { errors, written: hexOf(Uint8Array.from(written)), requests };
  };

  it.each(cases)('%s', (_, frames, code) => {
    const { errors, written } = serve(frames);
    expect(errors.map((error) => error.code)).toEqual([h2Error[code]]);
    expect(written).toContain('000008070000000000');
  });

  it.each([
    ['upper case', '8286 8400 03 466f6f 0161'],
    ['no path', '8286 4101 61'],
    ['a pseudo-header after others', '8286 0003 666f6f 0161 84'],
    ['two methods', '8282 8684'],
    ['a header of one connection', '8286 8400 0a 636f6e6e656374696f6e 0161'],
  ])('a message with %s, by a reset of its stream', (_, text) => {
    const headers = text.replaceAll(' ', '');
    const { errors, requests, written } = serve([frame(4, 0, 0), frame(1, 5, 1, headers)]);
    expect(errors).toEqual([]);
    expect(requests).toEqual([]);
    expect(written).toContain('000004030000000001');
  });

  it('anything else without a crash: mutated frames end in an event, a reset or a GOAWAY', () => {
    const stream = [
      frame(4, 0, 0, '000300000064'),
      frame(1, 4, 1, block),
      frame(0, 1, 1, '0011'),
      frame(8, 0, 0, '00000010'),
    ];
    const bytes = stream.flatMap((part) => [...part]);
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
        const mutated = Uint8Array.from(bytes);
        for (const [at, value] of changes) mutated[at] = value;
        const { errors } = serve([mutated]);
        expect(errors.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 20_000 },
    );
  });
});
