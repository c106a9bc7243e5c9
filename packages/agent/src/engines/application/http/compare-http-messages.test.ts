import { describe, expect, it } from 'vitest';
import { compareMessages } from './compare-http-messages.ts';
import { type HttpMessage, parseMessage } from './http-message.ts';

const response = (fields: string[], body = 'page', status = 200) =>
  parseMessage(
    Buffer.from([`HTTP/1.1 ${status} OK`, ...fields, `Content-Length: ${body.length}`, '', body].join('\r\n')),
    {
      kind: 'response',
      isEnded: true,
    },
  ) as HttpMessage;
const noted = (expected: HttpMessage, arrived: HttpMessage) => compareMessages(expected, arrived, 'response')?.text;
const recorded = response(['ETag: "1"', 'Server: nginx/1.0', 'Connection: keep-alive']);

describe('two messages', () => {
  it('are equivalent when only fields a proxy may change differ', () => {
    expect(
      noted(recorded, response(['Via: 1.1 x', 'etag: "1"', 'Date: now', 'X-Forwarded-For: 10.0.0.1'])),
    ).toBeUndefined();
    const named = response(['ETag: "1"', 'Connection: x-hop', 'X-Hop: 1']);
    expect(noted(recorded, named)).toBeUndefined();
  });

  it.each([
    [response(['ETag: "1"'], 'page', 502), 'has status 502 instead of 200'],
    [response(['ETag: "2"']), 'has the field etag: "\\"2\\"" instead of "\\"1\\""'],
    [response([]), 'lacks the field etag: "\\"1\\""'],
    [response(['ETag: "1"', 'X-Injected: yes']), 'has the field x-injected: "yes", which was not sent'],
    [
      response(['ETag: "1"'], 'pagf'),
      'has a body that differs at byte 3: 0x66 instead of 0x65, "pagf" instead of "page"',
    ],
    [response(['ETag: "1"'], 'pa'), 'has a body that ends after 2 of 4 bytes: "pa" instead of "page"'],
  ])('that differ are reported with the difference', (arrived, text) => {
    expect(noted(recorded, arrived)).toBe(text);
  });
});
