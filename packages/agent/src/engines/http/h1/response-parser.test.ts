import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseParser } from './response-parser.ts';

interface Seen {
  status: number;
  isKeptAlive: boolean;
  location: string | undefined;
  body: string;
}

const parse = (pieces: readonly Buffer[], options = { isHead: false, findsLocation: true }) => {
  const seen: Seen[] = [];
  let body = '';
  const parser = new ResponseParser(
    {
      onBody: (bytes, start, end) => {
        body += bytes.toString('latin1', start, end);
      },
      onResponse: (status, isKeptAlive, location) => {
        seen.push({ status, isKeptAlive, location, body });
        body = '';
      },
    },
    options,
  );
  // The buffer is used again and longer than what is valid in it, as a transport's is.
  const buffer = Buffer.alloc(4096, 'X\r\n\r\n');
  for (const piece of pieces) {
    piece.copy(buffer);
    parser.feed(buffer, 0, piece.length);
    buffer.fill('X\r\n\r\n');
  }
  return { seen, isClean: parser.finish() };
};

const stream = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTRANSFER-encoding: gzip, Chunked\r\n\r\n5;ext=1\r\nhe\r\nl\r\nA \r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n',
  'HTTP/1.1 302 Found\r\nlocation:  /next \r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  'HTTP/1.0 500 Oops\nContent-Length: 2\n\nno',
  'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\n!',
  'HTTP/1.1 200 OK\r\n\r\nuntil the end',
].join('');

const expected: Seen[] = [
  { status: 200, isKeptAlive: true, location: undefined, body: 'hello' },
  { status: 204, isKeptAlive: true, location: undefined, body: '' },
  { status: 304, isKeptAlive: true, location: undefined, body: '' },
  { status: 200, isKeptAlive: true, location: undefined, body: 'he\r\nl0123456789' },
  { status: 302, isKeptAlive: false, location: '/next', body: '' },
  { status: 500, isKeptAlive: false, location: undefined, body: 'no' },
  { status: 200, isKeptAlive: true, location: undefined, body: '!' },
  { status: 200, isKeptAlive: false, location: undefined, body: 'until the end' },
];

describe('response parser', () => {
  it('reads every kind of framing', () => {
    expect(parse([Buffer.from(stream)])).toMatchObject({ seen: expected, isClean: true });
  });

  it('finds the same responses for any segmentation', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 40 }), (cuts) => {
        const bounds = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
        const pieces = bounds.slice(1).map((end, index) => Buffer.from(stream.slice(bounds[index], end)));
        expect(parse(pieces).seen).toEqual(expected);
      }),
    );
    expect(parse([...stream].map((character) => Buffer.from(character))).seen).toEqual(expected);
  });

  it('expects no body of an answer to HEAD', () => {
    const answers = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'.repeat(2);
    expect(parse([Buffer.from(answers)], { isHead: true, findsLocation: false }).seen).toHaveLength(2);
  });

  it('distinguishes a truncated response from a complete one', () => {
    const cut = (text: string) => parse([Buffer.from(text)]).isClean;
    expect(cut('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell')).toBe(false);
    expect(cut('HTTP/1.1 200 OK\r\nContent-')).toBe(false);
    expect(cut('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n')).toBe(false);
    expect(cut('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')).toBe(true);
    expect(cut('')).toBe(true);
  });

  it.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.2 hello\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a bad length', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a bad chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['a chunk longer than it says', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n'],
  ])('refuses %s', (_, text) => {
    expect(() => parse([Buffer.from(text)])).toThrow();
  });

  it('limits the size of a head', () => {
    const piece = Buffer.from('X-Filler: 0123456789\r\n'.repeat(100));
    const pieces = [Buffer.from('HTTP/1.1 200 OK\r\n'), ...Array.from({ length: 50 }, () => piece)];
    expect(() => parse(pieces)).toThrow('has no end');
  });
});
