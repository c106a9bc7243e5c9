import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NotHttp, parseMessage } from './http-message.ts';

const parse = (text: string, more: object = {}) =>
  parseMessage(Buffer.from(text, 'latin1'), { kind: 'response', isEnded: false, ...more });

describe('an HTTP/1.x message', () => {
  it.each([
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokrest', { framing: 'length', body: 'ok', rest: 4 }],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=1\r\nok\r\n0\r\n\r\nr',
      { framing: 'chunked', body: 'ok', rest: 1 },
    ],
    [
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: 1\r\n\r\n',
      { framing: 'chunked', body: '', rest: 0 },
    ],
    ['HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nrest', { framing: 'none', body: '', rest: 4 }],
    ['HTTP/1.1 100 Continue\r\n\r\n', { framing: 'none', body: '', rest: 0 }],
  ])('%j is cut out of a stream', (text, expected) => {
    const message = parse(text);
    expect(message?.framing).toBe(expected.framing);
    expect(message?.body.toString()).toBe(expected.body);
    expect(text.length - (message?.length ?? 0)).toBe(expected.rest);
  });

  it('without a length ends with the stream; a request then has no body', () => {
    const text = 'HTTP/1.0 200 OK\r\n\r\nall';
    expect(parse(text)).toBeUndefined();
    expect(parse(text, { isEnded: true })).toMatchObject({ framing: 'close', length: text.length });
    expect(parse('GET / HTTP/1.1\r\nHost: a\r\n\r\nx', { kind: 'request' })).toMatchObject({
      framing: 'none',
      length: 27,
    });
    expect(parse('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n', { method: 'HEAD' })).toMatchObject({
      framing: 'none',
    });
  });

  it.each([
    '\x16\x03\x01\r\n\r\n',
    'HTTP/2 200\r\n\r\n',
    'HTTP/1.1 200 OK\r\nnothing\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
  ])('%j is rejected', (text) => {
    expect(() => parse(text)).toThrow(NotHttp);
  });

  it('is never returned before it is complete and never read beyond its end', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 5 }),
        fc.nat(),
        (chunks, cut) => {
          const body = chunks.map(
            (chunk) => `${chunk.length.toString(16)}\r\n${Buffer.from(chunk).toString('latin1')}\r\n`,
          );
          const text = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body.join('')}0\r\n\r\n`;
          const cutAt = cut % text.length;
          expect(parse(text.slice(0, cutAt))).toBeUndefined();
          const message = parse(`${text}HTTP/1.1 204 No Content\r\n\r\n`);
          expect(message?.length).toBe(text.length);
          expect(message?.body).toEqual(Buffer.concat(chunks));
        },
      ),
    );
  });
});
