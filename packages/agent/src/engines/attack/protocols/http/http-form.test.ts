import type { HttpRequest } from '@rushhour/protocol';
import { expect, it } from 'vitest';
import { framedBody } from './http-form.ts';

const exact = (name: string, value: string): HttpRequest => ({
  ...{ method: 'POST', path: '/', version: '1.1', exact: true },
  headers: [{ name, value }],
});
const framed = (text: string, value = 'chunked') =>
  framedBody(exact('Transfer-Encoding', value), Buffer.from(text)).toString();

it('a body in chunks is compared by its content, which devices frame anew', () => {
  expect(framed('3\r\nHi \r\n3;x=1\r\nCRS\r\n0\r\n\r\n')).toBe('Hi CRS');
  expect(framed('0\r\n\r\n')).toBe('');
});

it.each(['3\r\nHi', 'zz\r\nHi \r\n0\r\n\r\n', '9\r\nHi \r\n0\r\n\r\n', 'no chunks', ''])(
  'a body that is no sound sequence of chunks stays as it is: %j',
  (text) => expect(framed(text)).toBe(text),
);

it('a body ends where its length says', () => {
  expect(framedBody(exact('Content-Length', '2'), Buffer.from('abc')).toString()).toBe('ab');
});
