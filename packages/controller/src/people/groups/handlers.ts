import { type api, permissions } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { assertAllFound, assertFresh, crudHandlers, cursorOf } from '../../crud.ts';
import { conflict, forbidden, invalid, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Executor } from '../../store/engine/database.ts';
import { countAdministrators, groups, membersOf } from '../../store/people/groups.ts';
import type { Store } from '../../store/store.ts';
import { allows } from '../permissions.ts';

type Grants = readonly { value: number }[];

const nameOf = new Map<number, string>(Object.entries(permissions).map(([name, value]) => [value, name]));

interface Deps {
  store: Store;
}

const withMembers = async <G extends { id: number }>(executor: Executor, found: readonly G[]) => {
  const members = await membersOf(
    executor,
    found.map(({ id }) => id),
  );
  return found.map((group) => ({ ...group, users: members.get(group.id) ?? [] }));
};

const removeMany = ({ store }: Deps, ids: readonly number[], caller: Caller) =>
  store.change(caller, async (tx) => {
    const references = [...(await membersOf(tx, ids)).values()].flat();
    if (references.length > 0) {
      throw conflict('IN_USE', 'the group has users: move them to another group first', {
        references: references.slice(0, 100).map(({ id, email }) => ({ kind: 'user', id, name: email })),
      });
    }
    assertAllFound('group', ids, await groups.remove(tx, ids));
    return { data: [...ids] };
  });

export const groupHandlers = (deps: Deps): Handlers<typeof api.groups> => {
  const { store } = deps;

  return {
    ...crudHandlers('group', groups, store),
    list: async ({ query: { count, offset } }) => {
      const { rows, total } = await groups.page(store.read, { key: 'id', order: 'asc', limit: count, offset });
      return { cursor: cursorOf(count, offset, total), data: await withMembers(store.read, rows) };
    },
    create: ({ body }, caller) => {
      const grants = distinct(body.permissions ?? []);
      assertMayGrant(caller, grants, []);
      return store.change(caller, async (tx) => ({
        data: await groups.insert(tx, { name: body.name, permissions: grants }),
      }));
    },
    update: ({ body: { id, updatedAt, ...values } }, caller) =>
      store.change(caller, async (tx) => {
        const group = await orNotFound(groups.find(tx, id), 'group', id);
        assertFresh('group', group, updatedAt);
        const grants = values.permissions === undefined ? undefined : distinct(values.permissions ?? []);
        if (grants) assertMayGrant(caller, grants, group.permissions);
        await groups.update(tx, id, { ...values, permissions: grants });
        if (grants) await assertKeysStay(tx, id, grants, caller);
      }),
    removeMany: ({ body }, caller) => removeMany(deps, body.array, caller),
    get: async ({ params }) => {
      const group = await orNotFound(groups.find(store.read, params.id), 'group', params.id);
      const [shown] = await withMembers(store.read, [group]);
      return shown as NonNullable<typeof shown>;
    },
    remove: async ({ params }, caller) => {
      await removeMany(deps, [params.id], caller);
    },
  };
};

const distinct = (grants: Grants) => [...new Set(grants.map(({ value }) => value))].map((value) => ({ value }));

/** A caller cannot grant a permission they do not hold. Permissions the group already has may stay. */
const assertMayGrant = (caller: Caller, wanted: Grants, present: Grants) => {
  const unknown = wanted.flatMap(({ value }, i) =>
    nameOf.has(value)
      ? []
      : [{ path: `/permissions/${i}/value`, code: 'UNKNOWN_PERMISSION', message: `${value} is no permission` }],
  );
  if (unknown.length > 0) throw invalid(unknown);
  const kept = new Set(present.map(({ value }) => value));
  const missing = wanted
    .filter(({ value }) => !kept.has(value))
    .map(({ value }) => nameOf.get(value) as keyof typeof permissions)
    .filter((name) => !allows(caller.permissions, name));
  if (missing.length > 0) {
    throw forbidden('CANNOT_GRANT', `you cannot grant what you do not hold: ${missing.join(', ')}`, {
      permissions: missing,
    });
  }
};

/** A change of permissions must not lock out its author or the last administrator. */
const assertKeysStay = async (tx: Change, groupId: number, grants: Grants, caller: Caller) => {
  if ((await countAdministrators(tx)) === 0) {
    throw conflict('LAST_ADMINISTRATOR', 'this would leave the installation without an administrator');
  }
  const isOwn = (await membersOf(tx, [groupId])).get(groupId)?.some(({ id }) => id === caller.userId);
  if (isOwn && !allows(new Set(grants.map(({ value }) => value)), 'groups.write')) {
    throw conflict('SELF', 'this would take the permission groups.write from yourself');
  }
};
