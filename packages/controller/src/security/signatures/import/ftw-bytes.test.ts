import { expect, it } from 'vitest';
import { renderSignature } from '../expressions/render.ts';
import { wireBytes } from '../expressions/wire-bytes.ts';
import { readFtw } from './ftw.ts';
import type { ReadTemplate } from './template.ts';

/** What is sent for the input of a test. */
const sent = (input: string): string => {
  const text = `rule_id: 1\ntests:\n  - test_id: 1\n    stages:\n      - input: ${input}\n        output: {log: {expect_ids: [1]}}\n`;
  const [read] = readFtw({ path: 'a/1.yaml', bytes: Buffer.from(text) }) as [ReadTemplate];
  const signature = {
    variables: {},
    payloads: [],
    responses: [],
    combine: 'clusterbomb',
    maxAttempts: 1,
    ...read.draft,
  };
  const [attempt] = renderSignature(signature as never, {
    seed: 'x',
    target: { host: 'server.test', port: 80, isTls: false },
    dictionary: () => [],
  });
  return wireBytes(attempt?.requests[0] as never).toString('latin1');
};

/** Requests as go-ftw writes them (ftwhttp/request.go). */
it.each([
  [
    'headers first, then connection and length',
    '{method: POST, uri: /a, headers: {Host: localhost, X-A: b}, data: "a=<b>&c"}',
    'POST /a HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\nContent-Length: 11\r\n\r\na=%3Cb%3E&c',
  ],
  [
    'a form that is escaped somewhere stays as it is',
    '{method: POST, headers: {Host: localhost}, data: "a=%3C b"}',
    'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\nContent-Length: 7\r\n\r\na=%3C b',
  ],
  [
    'lines of multipart bodies end with CR LF',
    '{method: POST, headers: {Host: localhost, Content-Type: multipart/form-data; boundary=b}, data: "--b\\nx\\n--b--\\n"}',
    'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\nConnection: close\r\nContent-Length: 15\r\n\r\n--b\r\nx\r\n--b--\r\n',
  ],
  [
    'an own length is kept, and nothing is added where the test says so',
    '{method: POST, autocomplete_headers: false, headers: {Content-Length: "99"}, data: "a=<"}',
    'POST / HTTP/1.1\r\nContent-Length: 99\r\n\r\na=<',
  ],
  [
    'methods with a body have a length without one',
    '{method: DELETE, headers: {Host: localhost}}',
    'DELETE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
  ],
])('%s', (_, input, bytes) => {
  expect(sent(input)).toBe(bytes);
});

it('bytes of an encoded request stay bytes', () => {
  const bytes = Buffer.from(
    'GET /\xff{{x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'latin1',
  );
  expect(sent(`{encoded_request: "${bytes.toString('base64')}"}`)).toBe(bytes.toString('latin1'));
});
