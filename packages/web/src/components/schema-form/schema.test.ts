import { expect, it } from 'vitest';
import { choicesOf, typeOf, withDefaults, withoutNull, writableOf } from './schema.ts';

it('names the numbers of an enumeration by its description', () => {
  expect(choicesOf({ enum: [1, 2, 3], description: '1 client, 2 server, 3 both' })).toEqual([
    { value: '1', label: 'client' },
    { value: '2', label: 'server' },
    { value: '3', label: 'both' },
  ]);
  expect(choicesOf({ enum: ['arp', ''] })).toEqual([{ value: 'arp', label: 'arp' }]);
});

it('removes "or null" and keeps the description', () => {
  const member = { anyOf: [{ type: 'string', enum: ['a', 'b'], description: 'Which' }, { type: 'null' }] };
  expect(withoutNull(member)).toEqual({ type: 'string', enum: ['a', 'b'], description: 'Which' });
  expect(typeOf(withoutNull({ anyOf: [{ const: 0 }, { type: 'integer' }] }))).toBe('any');
});

it('keeps writable members in the given order', () => {
  const schema = { properties: { id: {}, a: { readOnly: true }, b: {}, c: {} } };
  expect(Object.keys(writableOf(schema).properties)).toEqual(['b', 'c']);
  expect(Object.keys(writableOf(schema, ['c', 'b', 'x']).properties)).toEqual(['c', 'b']);
});

it('rewrites defaults in descriptions', () => {
  expect(withDefaults('397 unless said, 3650 for a `ca`')).toBe('Default: 397, 3650 for a `ca`');
  expect(withDefaults('Where the attack goes; c2s unless said')).toBe('Where the attack goes. Default: c2s');
  expect(withDefaults('Follows the CVSS score unless said')).toBe('Follows the CVSS score unless said');
});
