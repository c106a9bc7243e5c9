import { expect, it } from 'vitest';
import { validName } from './enrolment.ts';

it.each([
  ['lab 1', 'host', 'lab 1'],
  ['  lab\t1 ', 'host', 'lab 1'],
  ['\u0000', ' host ', 'host'],
  ['', '', 'agent'],
  ['x'.repeat(200), '', 'x'.repeat(120)],
])('the name %j on host %j becomes %j', (name, hostname, expected) => {
  expect(validName(name, hostname)).toBe(expected);
});
