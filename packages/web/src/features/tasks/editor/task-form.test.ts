import { plugins } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { withoutReferences } from './task-form.ts';

const withIds = (value: unknown): string[] =>
  JSON.stringify(value).match(/"(?:fileId|applicationId|signatureIds|network|campaignIds?|id)":/g) ?? [];

it('removes the ids of records from examples, and nothing else', () => {
  const schema = {
    properties: {
      file: { type: 'integer', 'x-reference': 'file' },
      many: { type: 'array', items: { type: 'integer', 'x-reference': 'signature' } },
      list: { type: 'array', items: { properties: { applicationID: {}, users: {} } } },
    },
  };
  const example = { file: 1, many: [1, 2], list: [{ applicationID: 3, users: 10 }], rate: 5 };
  expect(withoutReferences(schema, example)).toEqual({ list: [{ users: 10 }], rate: 5 });
});

it.each(plugins.map((plugin) => [plugin.name, plugin] as const))('leaves no id in the example of %s', (_, plugin) => {
  const [example = {}] = plugin.examples;
  expect(withIds(withoutReferences(plugin.schema as never, example))).toEqual([]);
});
