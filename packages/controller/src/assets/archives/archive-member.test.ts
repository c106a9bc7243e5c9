import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ArchiveError } from './archive-error.ts';
import { MemberNames, parseMemberName } from './archive-member.ts';

describe('the name of a member', () => {
  test.each([
    ['a.txt', 'a.txt'],
    ['folder/a.txt', 'folder/a.txt'],
    ['folder/', 'folder'],
    ['./folder/a', 'folder/a'],
    ['././a', 'a'],
    ['./', ''],
    ['.', ''],
    ['.hidden', '.hidden'],
    ['..a/b..', '..a/b..'],
    ['10:30.log', '10:30.log'],
    ['日本語/ü.txt', '日本語/ü.txt'],
  ])('%j is %j', (raw, name) => {
    expect(parseMemberName(raw)).toBe(name);
  });

  test('is refused or stays within the folder it is unpacked in', () => {
    const piece = fc.constantFrom('.', '..', '/', '\\', 'a', 'C:', '\0', ' ', '\u202e', 'é');
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 8 }), (pieces) => {
        try {
          const name = parseMemberName(pieces.join(''));
          const resolved = posix.resolve('/folder', name);
          expect(resolved === '/folder' || resolved === `/folder/${name}`).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ code: 'UNSAFE_NAME' });
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('may belong to one file, or to a folder any number of times', () => {
    const names = new MemberNames();
    names.add('folder', true);
    names.add('folder', true);
    names.add('file', false);
    for (const [name, isFolder] of [
      ['file', false],
      ['file', true],
      ['folder', false],
    ] as const) {
      expect(() => names.add(name, isFolder)).toThrow(ArchiveError);
    }
  });
});
