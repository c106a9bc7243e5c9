import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { Store } from '../../store/store.ts';
import { type StoredTemplate, taskTemplates } from '../../store/tasks/tasks.ts';
import { allBuiltin } from './builtin/all-builtin.ts';
import type { BuiltinTemplate } from './builtin/builtin-template.ts';

const origin = { userId: null, address: '', requestId: 'start', operation: 'taskTemplates.builtin' };
const allTemplates = { key: 'id', order: 'asc', limit: 100_000, offset: 0 } as const;

/** Creates missing built-in templates, updates changed ones and removes obsolete ones. */
export const ensureBuiltinTemplates = async (store: Store, builtins: readonly BuiltinTemplate[] = allBuiltin) => {
  if (isDone(await difference(store.read, builtins))) return;
  await store.change(origin, async (tx) => {
    const { outdated, gone, takenNames } = await difference(tx, builtins);
    if (gone.length > 0) await taskTemplates.remove(tx, gone);
    for (const { id, builtin } of outdated) await write(tx, id, builtin, takenNames);
  });
};

const write = async (tx: Change, id: number | undefined, builtin: BuiltinTemplate, takenNames: ReadonlySet<string>) => {
  if (id !== undefined) {
    const { name: _, ...content } = builtin;
    await taskTemplates.update(tx, id, content);
    return;
  }
  const name = takenNames.has(builtin.name) ? otherName(builtin) : builtin.name;
  await taskTemplates.insert(tx, { ...builtin, name, builtIn: true });
};

/** The name of a built-in template if a user's template already has its name. */
const otherName = ({ name }: BuiltinTemplate) => `${name} (built-in)`;

const isDone = ({ outdated, gone }: Awaited<ReturnType<typeof difference>>) => outdated.length + gone.length === 0;

const difference = async (executor: Executor, builtins: readonly BuiltinTemplate[]) => {
  const { rows: present } = await taskTemplates.page(executor, { ...allTemplates, filters: { builtIn: 1 } });
  const { rows: own } = await taskTemplates.page(executor, { ...allTemplates, isLight: true, filters: { builtIn: 0 } });
  const storedByName = new Map(present.map((stored) => [stored.name, stored]));
  const pairs = builtins.map((builtin) => {
    const stored = storedByName.get(builtin.name) ?? storedByName.get(otherName(builtin));
    return { builtin, stored, id: stored?.id };
  });
  const kept = new Set(pairs.map(({ id }) => id));
  return {
    outdated: pairs.filter(({ builtin, stored }) => stored === undefined || !isSame(stored, builtin)),
    gone: present.map(({ id }) => id).filter((id) => !kept.has(id)),
    takenNames: new Set(own.map(({ name }) => name)),
  };
};

const isSame = (stored: StoredTemplate, { description, tags, task, parameters, slots }: BuiltinTemplate) =>
  isDeepStrictEqual(
    [stored.description, stored.tags, stored.task, stored.parameters, stored.slots],
    [description, tags, task, parameters, slots],
  );
