import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyPatch, mergePatch, type PatchError, type PatchOperation } from './json-patch.ts';

it.each([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('merges as RFC 7396 says: %j with %j', (target, patch, merged) => {
  expect(mergePatch(target, patch)).toEqual(merged);
});

const patched = (document: unknown, ...operations: PatchOperation[]) => applyPatch(document, operations);

it('edits as RFC 6902 says', () => {
  expect(patched({ foo: 'bar' }, { op: 'add', path: '/baz', value: 'qux' })).toEqual({ foo: 'bar', baz: 'qux' });
  expect(patched({ foo: ['a', 'c'] }, { op: 'add', path: '/foo/1', value: 'b' })).toEqual({ foo: ['a', 'b', 'c'] });
  expect(patched({ foo: ['a'] }, { op: 'add', path: '/foo/-', value: 'b' })).toEqual({ foo: ['a', 'b'] });
  expect(patched({ foo: ['a', 'b'] }, { op: 'remove', path: '/foo/0' })).toEqual({ foo: ['b'] });
  expect(patched({ foo: 1 }, { op: 'replace', path: '/foo', value: null })).toEqual({ foo: null });
  expect(patched({ a: { b: 1 }, c: {} }, { op: 'move', from: '/a/b', path: '/c/d' })).toEqual({ a: {}, c: { d: 1 } });
  expect(patched({ a: [1] }, { op: 'copy', from: '/a', path: '/b' })).toEqual({ a: [1], b: [1] });
  expect(patched({ 'a/b': { '~': 1 } }, { op: 'test', path: '/a~1b/~0', value: 1 })).toEqual({ 'a/b': { '~': 1 } });
});

const codeOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return (error as PatchError).code;
  }
  return 'none';
};

it.each<[PatchOperation, string]>([
  [{ op: 'replace', path: '/x', value: 1 }, 'POINTER_UNKNOWN'],
  [{ op: 'remove', path: '/list/9' }, 'POINTER_UNKNOWN'],
  [{ op: 'remove', path: '/list/00' }, 'POINTER_UNKNOWN'],
  [{ op: 'add', path: '/list/3', value: 1 }, 'POINTER_UNKNOWN'],
  [{ op: 'add', path: '/nowhere/x', value: 1 }, 'POINTER_UNKNOWN'],
  [{ op: 'add', path: '/__proto__/x', value: 1 }, 'POINTER_UNKNOWN'],
  [{ op: 'add', path: 'list', value: 1 }, 'POINTER_INVALID'],
  [{ op: 'move', from: '/list', path: '/list/0' }, 'POINTER_INVALID'],
  [{ op: 'test', path: '/list/0', value: 2 }, 'TEST_FAILED'],
  [{ op: 'copy', from: '/secret', path: '/list/-' }, 'SECRET_NOT_ALLOWED'],
  [{ op: 'move', from: '/list/0', path: '/secret' }, 'SECRET_NOT_ALLOWED'],
  [{ op: 'test', path: '', value: {} }, 'SECRET_NOT_ALLOWED'],
])('refuses %j with %s', (operation, code) => {
  const document = { list: [1, 2], secret: 'mark' };
  expect(codeOf(() => applyPatch(document, [operation], () => ['/secret']))).toBe(code);
});

it('leaves the document alone, whatever becomes of the patch', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (document, value) => {
      const before = JSON.stringify(document);
      codeOf(() => patched(document, { op: 'add', path: '', value }, { op: 'add', path: '/a', value }));
      expect(JSON.stringify(document)).toBe(before);
    }),
  );
});

it('does not reach prototypes by merging', () => {
  mergePatch({}, JSON.parse('{"__proto__":{"polluted":true}}'));
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
