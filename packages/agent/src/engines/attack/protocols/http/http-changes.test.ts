import { gzipSync } from 'node:zlib';
import type { HttpAnswer, HttpRequest } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { answerChanges, isHarmless, requestChanges, withoutCoding } from './http-changes.ts';

const none = Buffer.alloc(0);
const request = (path: string, headers: HttpRequest['headers'] = []): HttpRequest => ({
  method: 'GET',
  path,
  version: '1.1',
  headers,
});
const pairs = (headers: HttpRequest['headers']) =>
  headers.map(({ name, value }) => [name.toLowerCase(), value] as const);

describe('changes of a request', () => {
  it.each([
    ['/a/./b//c/../d?q=1', 'GET /a/b/d?q=1'],
    ['/shop?q=%27%20or%201', "GET /shop?q='+or+1"],
    ['/shop?q=%253Cb%253E', 'GET /shop?q=%3Cb%3E'],
    ['/shop', 'GET http://app.test/shop'],
  ])('%s as %s is normalised', (path, line) => {
    const changes = requestChanges(request(path), none, { line, headers: [], body: none });
    expect(changes).toMatchObject([{ part: 'request line', kind: 'normalised' }]);
    expect(isHarmless(changes)).toBe(true);
  });

  it.each([
    ['/shop?q=%3Cscript%3Ex', 'GET /shop?q=x'],
    ['/shop', 'POST /shop'],
  ])('%s as %s is changed', (path, line) => {
    expect(isHarmless(requestChanges(request(path), none, { line, headers: [], body: none }))).toBe(false);
  });

  it('names headers: dropped with an underscore, removed without one', () => {
    const sent = [
      { name: 'user_id', value: '7' },
      { name: 'X-Info', value: 'a' },
    ];
    const seen = { line: 'GET /', headers: [], body: none };
    expect(requestChanges(request('/', sent), none, seen)).toEqual([
      { part: 'request header', kind: 'dropped', detail: 'user_id' },
      { part: 'request header', kind: 'changed', detail: 'x-info was removed' },
    ]);
    const [first, second] = pairs(sent) as [readonly [string, string], readonly [string, string]];
    expect(requestChanges(request('/', sent), none, { ...seen, headers: [second, first] })).toEqual([]);
  });

  it('a body with the same JSON is normalised, another one changed', () => {
    const kindOf = (from: string, to: string) =>
      requestChanges(request('/'), Buffer.from(from), { line: 'GET /', headers: [], body: Buffer.from(to) })[0]?.kind;
    expect(kindOf('{"a": 1}', '{"a":1}')).toBe('normalised');
    expect(kindOf('{"a":"<script>"}', '{"a":""}')).toBe('changed');
  });
});

describe('changes of an answer', () => {
  const answer: HttpAnswer = { mode: 'canned', status: 200, headers: [] };
  const body = Buffer.from('<html><body><p>Request 7 arrived.</p></body></html>');

  it('compression is undone, unless our server compressed', () => {
    const headers = [['content-encoding', 'gzip']] as const;
    expect(withoutCoding(answer, headers, gzipSync(body))).toEqual({ body, coding: 'gzip' });
    const own = { ...answer, headers: [{ name: 'Content-Encoding', value: 'gzip' }] };
    expect(withoutCoding(own, headers, gzipSync(body)).coding).toBeUndefined();
    expect(withoutCoding(answer, headers, Buffer.from('no gzip')).body.toString()).toBe('no gzip');
  });

  it('added markup is harmless, a replaced or shortened page is not', () => {
    const kindOf = (text: string) =>
      answerChanges({ answer, body }, { status: 200, headers: [], body: Buffer.from(text) }, undefined)[0]?.kind;
    expect(kindOf(body.toString().replace('</body>', '<script src="/x.js"></script></body>'))).toBe('added');
    expect(
      kindOf('<html><body><p>Blocked</p><p>for reasons that take more room than the page.</p></body></html>'),
    ).toBe('changed');
    expect(kindOf('<html></html>')).toBe('changed');
  });
});
