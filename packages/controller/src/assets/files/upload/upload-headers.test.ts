import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTags, parseTags, tagsFromName } from './new-file.ts';
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

const codes = (text: string) => parseTags(text).issues.map(({ code }) => code);

test('tags are read from one string, each once and without blanks', () => {
  expect(parseTags('web, http:2 ,,web,a.b_c-d')).toEqual({ tags: ['web', 'http:2', 'a.b_c-d'], issues: [] });
  expect(parseTags('').tags).toEqual([]);
  expect(formatTags(['a', 'b'])).toBe('a,b');
});

test('every bad tag is reported', () => {
  expect(codes(`Web,ok,two words,${'x'.repeat(65)},é`)).toEqual(['BAD_TAG', 'BAD_TAG', 'BAD_TAG', 'BAD_TAG']);
  expect(codes(Array.from({ length: 33 }, (_, n) => `t${n}`).join(','))).toEqual(['TOO_MANY_TAGS']);
  expect(codes(Array.from({ length: 32 }, (_, n) => `t${n}`).join(','))).toEqual([]);
});

test.each([
  ['C:\\lab\\Emotet_2021 Dropper.exe', ['emotet', 'dropper']],
  ['smb-v1.tar.gz', ['smb-v1']],
  ['http://x/y.pcap', ['y']],
  ['.hidden', []],
  ['', []],
])('the name %j gives the tags %j', (name, tags) => {
  expect(tagsFromName(name)).toEqual(tags.filter((tag) => tag.length > 1));
});

test('whatever a file is called, its tags are valid', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: 'grapheme' }), (name) => {
      expect(parseTags(formatTags(tagsFromName(name))).issues).toEqual([]);
    }),
  );
});
