import { expect, test } from 'vitest';
import { parseContentRange } from './resumable.ts';

test('a chunk says where it belongs', () => {
  expect(parseContentRange('bytes 0-0/1')).toEqual({ start: 0, end: 1, total: 1 });
  expect(parseContentRange('Bytes 500-999/4294967296')).toEqual({ start: 500, end: 1000, total: 4_294_967_296 });
});

test.each([
  undefined,
  '',
  'bytes 0-1',
  'bytes */10',
  'bytes 0-1/*',
  'bytes 2-1/10',
  'bytes 0-10/10',
  'items 0-1/2',
  'bytes 0-1/9999999999999999',
])('%j is refused', (header) => {
  expect(() => parseContentRange(header)).toThrow(
    expect.objectContaining({ kind: 'invalid', code: 'BAD_CONTENT_RANGE' }),
  );
});
