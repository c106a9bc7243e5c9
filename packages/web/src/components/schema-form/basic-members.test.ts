import { plugins } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { splitMembers } from './basic-members.ts';
import type { ObjectSchema } from './schema.ts';

const schema: ObjectSchema = {
  properties: { sources: {}, a: {}, b: { default: 1 }, c: {}, d: {}, e: {}, f: {} },
  required: ['a', 'b'],
};

it('shows basic, required, given and wrong members', () => {
  const split = splitMembers(schema, new Set(['c']), { '/x/d/0': 'is wrong' }, '/x');
  expect(split).toEqual({ shown: ['sources', 'a', 'c', 'd'], folded: ['b', 'e', 'f'] });
});

it('shows small forms whole', () => {
  const small = { properties: { a: {}, b: {} } };
  expect(splitMembers(small, new Set(), {}, '')).toEqual({ shown: ['a', 'b'], folded: [] });
});

it.each(plugins.map((plugin) => [plugin.name, plugin] as const))('keeps the basic form of %s short', (_, plugin) => {
  const given = new Set(Object.keys(plugin.examples[0] ?? {}));
  expect(splitMembers(plugin.schema as never, given, {}, '').shown.length).toBeLessThanOrEqual(12);
});
