import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fits, newKey, parseKey } from './keys.ts';

it('a new key has the documented form and is known again by its hash alone', () => {
  const { text, publicId, secretHash } = newKey();
  expect(text).toMatch(/^rh_ai_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/);
  const parsed = parseKey(text);
  expect(parsed?.publicId).toBe(publicId);
  expect(fits(parsed?.secret ?? '', secretHash)).toBe(true);
  expect(fits(parsed?.secret ?? '', newKey().secretHash)).toBe(false);
  expect(fits('', undefined)).toBe(false);
});

it('no key with one character changed passes the checksum', () => {
  const { text } = newKey();
  fc.assert(
    fc.property(fc.integer({ min: 0, max: text.length - 1 }), fc.constantFrom(...'09AZaz_'), (at, character) => {
      const changed = text.slice(0, at) + character + text.slice(at + 1);
      expect(parseKey(changed) === undefined).toBe(changed !== text);
    }),
  );
});
