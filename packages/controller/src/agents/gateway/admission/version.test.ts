import { expect, it } from 'vitest';
import { isNotOlder } from './admission.ts';

it.each([
  ['1.2.3', '1.2.3', true],
  ['1.2.4', '1.2.3', true],
  ['1.10.0', '1.9.9', true],
  ['v2.0.0-rc1', '1.99.99', true],
  ['1.2.2', '1.2.3', false],
  ['0.9.9', '1.0.0', false],
  ['unknown', '0.0.1', false],
  ['unknown', '0.0.0', true],
])('%s is at least %s: %s', (version, oldest, expected) => {
  expect(isNotOlder(version, oldest)).toBe(expected);
});
