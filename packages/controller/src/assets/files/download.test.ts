import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerRange, selectRange } from './download.ts';

const content = Buffer.from('0123456789');
const sha256 = createHash('sha256').update(content).digest('hex');
const etag = `"${sha256}"`;
const file = { sha256, size: content.length };

test.each([
  ['bytes=0-0', { start: 0, end: 1 }],
  ['bytes=0-4', { start: 0, end: 5 }],
  ['bytes=2-', { start: 2, end: 10 }],
  ['bytes=9-', { start: 9, end: 10 }],
  ['bytes=-3', { start: 7, end: 10 }],
  ['bytes=-99', { start: 0, end: 10 }],
  ['bytes=5-99999999999999999999999', { start: 5, end: 10 }],
  ['BYTES = 1-2 ', { start: 1, end: 3 }],
  ['bytes=,1-2,', { start: 1, end: 3 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=10-20', 'unsatisfiable'],
  ['bytes=99999999999999999999999-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=0-1,4-5', 'all'],
  ['bytes=5-4', 'all'],
  ['bytes=-', 'all'],
  ['bytes=', 'all'],
  ['bytes=a-b', 'all'],
  ['bytes=1', 'all'],
  ['bytes=-1-2', 'all'],
  ['bytes=+1-2', 'all'],
  ['items=0-1', 'all'],
  ['', 'all'],
])('of ten bytes, %j selects %j', (header, expected) => {
  expect(selectRange(header, 10)).toEqual(expected);
});

test('of nothing, a suffix selects all and every other range is unsatisfiable', () => {
  expect(selectRange('bytes=-5', 0)).toBe('all');
  expect(selectRange('bytes=0-', 0)).toBe('unsatisfiable');
  expect(selectRange('bytes=0-0', 0)).toBe('unsatisfiable');
});

test('whatever is asked, what is selected lies inside the content', () => {
  const header = fc.stringMatching(/^bytes=[0-9]{0,4}-?[0-9]{0,4}(,[0-9]{0,3}-[0-9]{0,3})?$/);
  fc.assert(
    fc.property(header, fc.nat(3000), (asked, size) => {
      const selected = selectRange(asked, size);
      if (typeof selected === 'string') return;
      expect(selected.start).toBeGreaterThanOrEqual(0);
      expect(selected.end).toBeGreaterThan(selected.start);
      expect(selected.end).toBeLessThanOrEqual(size);
    }),
  );
});

test.each([
  ['no condition', {}, 200],
  ['a range', { range: 'bytes=0-1' }, 206],
  ['a range past the end', { range: 'bytes=10-' }, 416],
  ['If-None-Match with the tag', { ifNoneMatch: etag }, 304],
  ['If-None-Match with the weak tag', { ifNoneMatch: `W/${etag}` }, 304],
  ['If-None-Match with a list', { ifNoneMatch: `"a, b", ${etag}` }, 304],
  ['If-None-Match with a star', { ifNoneMatch: '*' }, 304],
  ['If-None-Match with other tags', { ifNoneMatch: '"a", W/"b"' }, 200],
  ['If-None-Match before Range', { ifNoneMatch: etag, range: 'bytes=10-' }, 304],
  ['If-Range with the tag', { ifRange: etag, range: 'bytes=0-1' }, 206],
  ['If-Range with the weak tag', { ifRange: `W/${etag}`, range: 'bytes=0-1' }, 200],
  ['If-Range with another tag', { ifRange: '"a"', range: 'bytes=10-' }, 200],
  ['If-Range with a date', { ifRange: 'Sat, 29 Oct 1994 19:43:31 GMT', range: 'bytes=0-1' }, 200],
  ['If-Range without Range', { ifRange: etag }, 200],
])('%s answers %#', (_what, request, status) => {
  expect(answerRange(request, file).status).toBe(status);
});

test('a part says where it belongs, and the digest is that of the whole', () => {
  expect(answerRange({ range: 'bytes=2-4' }, file)).toEqual({
    status: 206,
    start: 2,
    end: 5,
    headers: {
      etag,
      'accept-ranges': 'bytes',
      'content-length': '3',
      'content-range': 'bytes 2-4/10',
      'repr-digest': `sha-256=:${createHash('sha256').update(content).digest('base64')}:`,
    },
  });
  expect(answerRange({ range: 'bytes=10-' }, file).headers['content-range']).toBe('bytes */10');
  expect(answerRange({}, { sha256, size: 0 }).headers['content-length']).toBe('0');
});
