import { isDeepStrictEqual } from 'node:util';
import { dictionaries, readRows, replaceRows } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { Store } from '../../store/store.ts';
import { benignTexts } from './builtin/benign-texts.ts';
import type { BuiltinDictionary } from './builtin/builtin-dictionary.ts';
import { httpMethods, userAgents } from './builtin/http-dictionaries.ts';
import { commonPorts, testNames } from './builtin/network-dictionaries.ts';
import { oddStrings } from './builtin/odd-strings.ts';
import { blocksOf, type Content } from './content.ts';

/** In the order of their ids on a new installation. */
export const allBuiltin: readonly BuiltinDictionary[] = [
  userAgents,
  benignTexts,
  httpMethods,
  commonPorts,
  oddStrings,
  testNames,
];

const origin = { userId: null, address: '', requestId: 'start', operation: 'dictionaries.builtin' };

/** Creates missing built-in dictionaries and updates those that a release has changed. */
export const ensureBuiltinDictionaries = async (store: Store) => {
  if ((await outdated(store.read)).length === 0) return;
  await store.change(origin, async (tx) => {
    for (const { id, builtin } of await outdated(tx)) {
      const content = contentOf(builtin);
      const blocks = blocksOf(content);
      const { name, description, tags } = builtin;
      const { type, selection, config } = content;
      const columns = [...builtin.columns];
      const record = { name, description, tags, type, selection, columns, config, rowCount: blocks.count };
      if (id !== undefined) await dictionaries.update(tx, id, record);
      await replaceRows(tx, id ?? (await dictionaries.insert(tx, { ...record, source: 'builtin' })), blocks);
    }
  });
};

export const contentOf = ({ selection, columns, rows = [], values = [] }: BuiltinDictionary): Content => ({
  type: values.length > 0 ? 'list' : 'table',
  selection,
  columns,
  rows,
  values,
  config: {},
});

const outdated = async (executor: Executor) => {
  const request = { key: 'id', order: 'asc', limit: 1000, offset: 0, filters: { source: 'builtin' } } as const;
  const { rows: present } = await dictionaries.page(executor, request);
  const found: { id: number | undefined; builtin: BuiltinDictionary }[] = [];
  for (const builtin of allBuiltin) {
    const stored = present.find(({ name }) => name === builtin.name);
    if (stored && (await isSame(executor, stored, builtin))) continue;
    found.push({ id: stored?.id, builtin });
  }
  return found;
};

type Stored = NonNullable<Awaited<ReturnType<typeof dictionaries.find>>>;

const isSame = async (executor: Executor, stored: Stored, builtin: BuiltinDictionary) => {
  const { description, tags } = builtin;
  const { type, selection, columns, config, rows, values } = contentOf(builtin);
  const wanted = { description, tags, type, selection, columns, config };
  const members = Object.keys(wanted) as (keyof typeof wanted)[];
  if (!members.every((member) => isDeepStrictEqual(stored[member], wanted[member]))) return false;
  const kept = await readRows(executor, stored.id, { from: 0, limit: stored.rowCount });
  return isDeepStrictEqual(kept, type === 'list' ? values : rows);
};
