import { expect, it } from 'vitest';
import { choicesOf, typeOf, withDefaults, withoutNull, writableOf } from './schema.ts';

it('names the values of an enumeration', () => {
  expect(choicesOf({ enum: [1, 2, 3] }, 'type').map(({ label }) => label)).toEqual(['Client', 'Server', 'Both']);
  expect(choicesOf({ enum: ['arp', ''] }, 'gatewayMacMode')).toEqual([{ value: 'arp', label: 'ARP' }]);
  // The same value of two members.
  expect(choicesOf({ enum: ['all'] }, 'hostSelection')).toEqual([{ value: 'all', label: 'All hosts' }]);
  expect(choicesOf({ enum: ['all'] }, 'window')).toEqual([{ value: 'all', label: 'Whole run' }]);
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
