import type { api } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import type { Caller } from '../../caller.ts';
import { assertAllFound, assertFresh, crudHandlers, cursorOf } from '../../crud.ts';
import { conflict, forbidden, invalid, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { Change } from '../../store/engine/change.ts';
import { countAdministrators, groups } from '../../store/people/groups.ts';
import { normalEmail, type StoredUser, users } from '../../store/people/users.ts';
import type { Store } from '../../store/store.ts';
import { notify } from '../../store/system/notifications.ts';
import { createAccessToken, revokeAccessTokens, revokeAccessTokensOf } from '../access-tokens.ts';
import { extendedUserOf, userOf } from '../extended-user.ts';
import { hashPassword, temporaryPassword } from '../passwords.ts';
import { isAdmin } from '../permissions.ts';
import { endOwnSessions, endSessionsOf } from '../sessions.ts';

const defaultLength = 16;

interface Deps {
  store: Store;
  bus: Bus;
}

const mustFind = async (tx: Change, id: number) => {
  const user = await orNotFound(users.find(tx, id), 'user', id);
  return user;
};

/** Finds the users of a bulk request, all or none, and checks that the caller may act on each. */
const findAll = async (tx: Change, ids: readonly number[], caller: Caller) => {
  const found = await users.findMany(tx, ids);
  assertAllFound(
    'user',
    ids,
    found.map(({ id }) => id),
  );
  for (const user of found) assertMayActOn(caller, user);
  return found;
};

/** Ends the sessions of users and revokes their tokens. */
const endAccessOf = async (tx: Change, ids: readonly number[]) => {
  await endSessionsOf(tx, ids);
  await revokeAccessTokensOf(tx, ids);
};

const removeMany = ({ store }: Deps, ids: readonly number[], caller: Caller) =>
  store.change(caller, async (tx) => {
    await findAll(tx, ids, caller);
    assertNotSelf(caller, ids, 'delete');
    await users.remove(tx, ids);
    await endAccessOf(tx, ids);
    await assertAdministratorLeft(tx);
    return { data: [...ids] };
  });

const createUser =
  ({ store }: Deps): Handlers<typeof api.users>['create'] =>
  async ({ body }, caller) => {
    const passwordLength = body.passwordLength || defaultLength;
    const password = temporaryPassword(passwordLength);
    const passwordHash = await hashPassword(password);
    return store.change(caller, async (tx) => {
      await assertMayAssign(tx, caller, body.groupID);
      await users.insert(tx, {
        ...newUser,
        email: normalEmail(body.email),
        realName: body.realName,
        groupID: body.groupID,
        isActive: body.isActive ?? true,
        passwordLength,
        passwordHash,
      });
      return { email: normalEmail(body.email), password };
    });
  };

const blockUsers =
  ({ store, bus }: Deps): Handlers<typeof api.users>['block'] =>
  ({ body }, caller) =>
    store.change(caller, async (tx) => {
      const found = await findAll(tx, body.array, caller);
      assertNotSelf(caller, body.array, 'block');
      for (const { id, email } of found) {
        await users.update(tx, id, { isActive: false });
        const message = `User ${email} was blocked.`;
        await notify(tx, bus, {
          severity: 'warning',
          kind: 'user.blocked',
          message,
          entity: { type: 'user', id },
          audience: { permission: 'users.read' },
        });
      }
      await endAccessOf(tx, body.array);
      await assertAdministratorLeft(tx);
    });

const updateUser =
  ({ store }: Deps): Handlers<typeof api.users>['update'] =>
  ({ body: { id, updatedAt, passwordLength: _, ...values } }, caller) =>
    store.change(caller, async (tx) => {
      const user = await mustFind(tx, id);
      assertFresh('user', user, updatedAt);
      assertMayActOn(caller, user);
      if (values.groupID && values.groupID !== user.groupID) await assertMayAssign(tx, caller, values.groupID);
      if (values.isActive === false) assertNotSelf(caller, [id], 'block');
      await users.update(tx, id, {
        ...values,
        email: values.email && normalEmail(values.email),
        isActive: values.isActive ?? undefined,
      });
      if (values.isActive === false) await endAccessOf(tx, [id]);
      await assertAdministratorLeft(tx);
    });

const listUsers =
  ({ store }: Deps): Handlers<typeof api.users>['list'] =>
  async ({ query: { count, offset, search, groupID, isActive } }) => {
    const filters = { groupID, isActive: isActive === undefined ? undefined : Number(isActive) };
    const { rows, total } = await users.page(store.read, {
      key: 'id',
      order: 'asc',
      limit: count,
      offset,
      search,
      filters,
    });
    return { cursor: cursorOf(count, offset, total), data: rows.map(userOf) };
  };

const resetPassword =
  ({ store }: Deps): Handlers<typeof api.users>['resetPassword'] =>
  async ({ params }, caller) => {
    await orNotFound(users.find(store.read, params.id), 'user', params.id);
    const password = temporaryPassword(defaultLength);
    const passwordHash = await hashPassword(password);
    return store.change(caller, async (tx) => {
      const user = await mustFind(tx, params.id);
      assertMayActOn(caller, user);
      await users.update(tx, user.id, { passwordHash, passwordLength: defaultLength, isRequiredToSetPassword: true });
      await endAccessOf(tx, [user.id]);
      return { email: user.email, password };
    });
  };

export const userHandlers = (deps: Deps): Handlers<typeof api.users> => {
  const { store } = deps;

  return {
    ...crudHandlers('user', users, store),
    list: listUsers(deps),
    get: async ({ params }) => {
      const user = await orNotFound(users.find(store.read, params.id), 'user', params.id);
      return userOf(user);
    },
    create: createUser(deps),
    update: updateUser(deps),
    removeMany: ({ body }, caller) => removeMany(deps, body.array, caller),
    remove: async ({ params }, caller) => {
      await removeMany(deps, [params.id], caller);
    },
    block: blockUsers(deps),
    unblock: ({ body }, caller) =>
      store.change(caller, async (tx) => {
        for (const { id } of await findAll(tx, body.array, caller)) await users.update(tx, id, { isActive: true });
      }),
    resetPassword: resetPassword(deps),
    me: async (_, caller) => {
      const user = await orNotFound(users.find(store.read, caller.userId), 'user', caller.userId);
      return { data: await extendedUserOf(store.read, user, caller.sessionId) };
    },
    updateMe: updateMe(deps),
  };
};

const updateMe =
  ({ store }: Deps): Handlers<typeof api.users>['updateMe'] =>
  ({ body: { createToken, revokeTokens = [], endSessions = [], ...body } }, caller) =>
    store.change(caller, async (tx) => {
      const preferences = body.preferences && {
        ...(await mustFind(tx, caller.userId)).preferences,
        ...body.preferences,
      };
      assertSmall(preferences);
      // An agreement that was accepted stays so.
      const agreementAccepted = body.agreementAccepted || undefined;
      await users.update(tx, caller.userId, { ...body, agreementAccepted, preferences });
      await revokeAccessTokens(tx, caller.userId, revokeTokens);
      await endOwnSessions(tx, caller.userId, endSessions);
      return { data: createToken ? await createAccessToken(tx, caller.userId, createToken) : {} };
    });

const newUser = { isRequiredToSetPassword: true, agreementAccepted: false, preferences: {} };

const maxPreferencesBytes = 64 * 1024;

const assertSmall = (preferences: Record<string, unknown> | undefined) => {
  if (Buffer.byteLength(JSON.stringify(preferences ?? {})) <= maxPreferencesBytes) return;
  const message = `have more than ${maxPreferencesBytes} bytes together with those stored`;
  throw invalid([{ path: '/preferences', code: 'TOO_LARGE', message }]);
};

const assertNotSelf = (caller: Caller, ids: readonly number[], verb: string) => {
  if (ids.includes(caller.userId)) throw conflict('SELF', `you cannot ${verb} yourself`);
};

const assertAdministratorLeft = async (tx: Change) => {
  if ((await countAdministrators(tx)) === 0) {
    throw conflict('LAST_ADMINISTRATOR', 'this would leave the installation without an administrator');
  }
};

/** Putting a user into a group grants the permissions of the group. */
const assertMayAssign = async (tx: Change, caller: Caller, groupId: number) => {
  const group = await groups.find(tx, groupId);
  if (group === undefined)
    throw invalid([{ path: '/groupID', code: 'UNKNOWN_GROUP', message: `there is no group ${groupId}` }]);
  assertHolds(
    caller,
    group.permissions.map(({ value }) => value),
    'CANNOT_GRANT',
    'you cannot grant more than you hold',
  );
};

/** A caller cannot change an account with more permissions than their own: they could set its password. */
const assertMayActOn = (caller: Caller, user: StoredUser) => {
  const held = (JSON.parse(user.groupPermissions) as { value: number }[]).map(({ value }) => value);
  assertHolds(caller, held, 'FORBIDDEN', `user ${user.id} may do more than you`);
};

const assertHolds = (caller: Caller, values: readonly number[], code: string, message: string) => {
  if (isAdmin(caller.permissions)) return;
  const missing = values.filter((value) => !caller.permissions.has(value));
  if (missing.length > 0) throw forbidden(code, message, { permissions: missing });
};
