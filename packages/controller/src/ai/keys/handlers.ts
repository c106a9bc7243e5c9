import type { AiKey, api } from '@rushhour/contract';
import { assertFresh, cursorOf, pageRequestOf } from '../../crud.ts';
import { conflict, forbidden, notFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { aiKeys, keyFilters, keyNamed, usageOfKey } from '../../store/ai/ai-keys.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { isFreshlySignedIn } from '../approvals/reauthentication.ts';
import { type ActivityDeps, readActivity } from './activity.ts';
import { assertMayGive, assertSoundKey, expiryFor } from './key-rules.ts';
import { newKey, prefixOf } from './keys.ts';

interface Deps extends ActivityDeps {
  store: Store;
  settings: SettingsStore;
  approvals: {
    decide: Handlers<typeof api.aiAdmin>['decide'];
    /** Ends everything a key waits for. */
    revokeOfKey(tx: Change, keyId: number): Promise<void>;
  };
}

type StoredKey = NonNullable<Awaited<ReturnType<typeof aiKeys.find>>>;

export const aiAdminHandlers = (deps: Deps): Handlers<typeof api.aiAdmin> => {
  const { store, settings, approvals } = deps;
  const shown = async (key: StoredKey): Promise<AiKey> => {
    const { publicId, secretHash: _, previousHash: __, policyVersion, ...members } = key;
    const policy = { ...members.policy, version: policyVersion };
    return { ...members, policy, prefix: prefixOf(publicId), usage: await usageOfKey(store.read, key.id) };
  };
  const mustFind = async (tx: Store['read'], id: number) => {
    const key = await aiKeys.find(tx, id);
    if (key === undefined) throw notFound('AI key', id);
    return key;
  };

  const assertNameFree = async (tx: Change, name: string | undefined, id?: number) => {
    const holder = name === undefined ? undefined : await keyNamed(tx, name);
    if (holder !== undefined && holder !== id)
      throw conflict('DUPLICATE', `AI key ${holder} has this name`, { id: holder, path: '/name' });
  };

  return {
    keys: async ({ query: { q, state, ...query } }) => {
      const request = pageRequestOf(query, 'id');
      const { rows, total } = await aiKeys.page(store.read, { ...request, filters: keyFilters(q, state) });
      return { cursor: cursorOf(request.limit, request.offset, total), data: await Promise.all(rows.map(shown)) };
    },

    createKey: async ({ body }, caller) => {
      const now = Date.now();
      if (!(await isFreshlySignedIn(store.read, caller.sessionId, now)))
        throw forbidden('REAUTHENTICATION_REQUIRED', 'sign in again: making a key needs a fresh password');
      assertMayGive(body.scopes, caller.permissions);
      const { ai } = settings.current();
      assertSoundKey(body, ai, now);
      const { policy = {}, constraints = {}, limits = {}, ipAllowlist = [], name, scopes } = body;
      const { publicId, text, secretHash } = newKey();
      const { version: _, ...choices } = policy;
      const created = await store.change(caller, async (tx) => {
        await assertNameFree(tx, name);
        const id = await aiKeys.insert(tx, {
          ...{ publicId, name, scopes, constraints, limits, ipAllowlist, secretHash, policy: choices },
          ...{ isActive: true, policyVersion: 1, lastUsedIp: '', previousHash: null, previousValidUntil: null },
          ...{ lastUsedAt: null, rotatedAt: null, revokedAt: null },
          expiresAt: expiryFor(body.expiresAt, ai.keyTtlDays, now),
        });
        return mustFind(tx, id);
      });
      return { data: { key: await shown(created), secret: text } };
    },

    updateKey: async ({ body }, caller) => {
      const { id, updatedAt, rotate = false, revoked, isActive, policy, graceSec: _, ...values } = body;
      const graceSec = body.graceSec ?? 0;
      assertSoundKey(body, settings.current().ai, Date.now());
      if (values.scopes) assertMayGive(values.scopes, caller.permissions);
      return store.change(caller, async (tx) => {
        const key = await mustFind(tx, id);
        assertFresh('AI key', key, updatedAt);
        if (key.revokedAt !== null) throw conflict('KEY_REVOKED', `AI key ${id} is revoked for ever`, { id });
        await assertNameFree(tx, values.name ?? undefined, id);
        const next = rotate ? newKey(key.publicId) : undefined;
        await aiKeys.update(tx, id, {
          ...values,
          ...(values.expiresAt != null && { expiresAt: new Date(values.expiresAt).toISOString() }),
          ...(isActive != null && { isActive }),
          ...(policy !== undefined && { policy: policyOf(policy), policyVersion: key.policyVersion + 1 }),
          ...(revoked === true && { revokedAt: tx.now, isActive: false }),
          ...(next && {
            secretHash: next.secretHash,
            previousHash: graceSec === 0 ? null : key.secretHash,
            previousValidUntil: graceSec === 0 ? null : new Date(Date.parse(tx.now) + graceSec * 1000).toISOString(),
            rotatedAt: tx.now,
          }),
        });
        tx.note({ rotated: rotate, revoked: revoked === true });
        if (revoked === true || isActive === false) await approvals.revokeOfKey(tx, id);
        return next === undefined ? {} : { data: { secret: next.text } };
      });
    },

    activity: readActivity(deps),
    decide: approvals.decide,
  };
};

const policyOf = (policy: AiKey['policy'] | null) => {
  const { version: _, ...choices } = policy ?? {};
  return choices;
};
