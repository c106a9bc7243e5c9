import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { AiKey, AiKeyDraft, AiScope, api } from '@rushhour/contract';
import type { Caller } from '../../caller.ts';
import { assertFresh, cursorOf, pageRequestOf } from '../../crud.ts';
import { conflict, forbidden, type Issue, invalid, orNotFound } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import { assertPermission } from '../../people/assert-permission.ts';
import { allows } from '../../people/permissions.ts';
import { aiApprovals, approvalView } from '../../store/ai/ai-approvals.ts';
import { auditPage } from '../../store/ai/ai-audit.ts';
import { aiKeys, keyFilters, keyNamed, usageOfKey } from '../../store/ai/ai-keys.ts';
import { verifyAudit } from '../../store/engine/audit.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Store } from '../../store/store.ts';
import type { SettingsStore } from '../../store/system/settings.ts';
import { isFreshlySignedIn } from '../approvals/reauthentication.ts';
import { newKey, prefixOf } from './keys.ts';
import { type AiRules, policyIssues } from './policy.ts';
import { coveredScopes } from './scopes.ts';

const dayMs = 86_400_000;
const longestDays = 365;

const isRange = (text: string) => {
  const [address = '', length, ...more] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : 128;
  const isLength = length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= bits);
  return isIP(address) !== 0 && isLength && more.length === 0;
};

const rangeIssues = (ranges: readonly string[] | undefined, path: string): Issue[] =>
  (ranges ?? []).flatMap((range, index) =>
    isRange(range)
      ? []
      : [{ path: `${path}/${index}`, code: 'CIDR', message: 'must be an address or a range such as 10.0.0.0/8' }],
  );

const expiryIssues = (expiresAt: string | undefined, nowMs: number): Issue[] => {
  if (expiresAt === undefined) return [];
  const days = (Date.parse(expiresAt) - nowMs) / dayMs;
  if (days > 0 && days <= longestDays) return [];
  return [{ path: '/expiresAt', code: 'RANGE', message: `must be within the next ${longestDays} days` }];
};

type Given = { [K in keyof AiKeyDraft]?: AiKeyDraft[K] | null | undefined };

/** Refuses invalid key settings, with all issues. */
const assertValidKey = (given: Given, rules: AiRules, nowMs: number) => {
  const issues = [
    ...expiryIssues(given.expiresAt ?? undefined, nowMs),
    ...rangeIssues(given.ipAllowlist ?? undefined, '/ipAllowlist'),
    ...rangeIssues(given.constraints?.targetCidrs, '/constraints/targetCidrs'),
    ...policyIssues(given.policy ?? {}, rules),
  ];
  if (issues.length > 0) throw invalid(issues);
};

/** A user can only grant scopes covered by their own permissions. */
const assertMayGive = (scopes: readonly AiScope[], held: ReadonlySet<number>) => {
  const covered = new Set(coveredScopes(scopes, held));
  const beyond = scopes.filter((scope) => !covered.has(scope));
  if (beyond.length === 0) return;
  throw forbidden('SCOPE_BEYOND_RIGHTS', `your own permissions do not cover ${beyond.join(', ')}`, { scopes: beyond });
};

type KeyPatch = Parameters<Handlers<typeof api.aiAdmin>['updateKey']>[0]['body'];

/** Whether a value is given and differs from the stored one. */
const differs = (given: unknown, stored: unknown) => given !== undefined && !isDeepStrictEqual(given ?? {}, stored);

const isWider = (given: readonly string[] | null | undefined, stored: readonly string[]) => {
  if (given === undefined) return false;
  const list = given ?? [];
  return list.some((item) => !stored.includes(item)) || (list.length === 0 && stored.length > 0);
};

/**
 * Whether a change may give the key, or the caller, more than before. Changes of policy, constraints and limits always
 * count; what only takes away does not: revoking, disabling, fewer scopes and addresses, an earlier end.
 */
const isLoosening = ({ expiresAt, ...patch }: KeyPatch, key: StoredKey) => {
  const { version: _, ...policy } = (patch.policy ?? {}) as Record<string, unknown>;
  return [
    patch.rotate === true,
    patch.isActive === true && !key.isActive,
    expiresAt != null && expiresAt > key.expiresAt,
    patch.scopes?.some((scope) => !key.scopes.includes(scope)) === true,
    key.ipAllowlist.length > 0 && isWider(patch.ipAllowlist, key.ipAllowlist),
    patch.policy !== undefined && differs(policy, key.policy),
    differs(patch.constraints, key.constraints),
    differs(patch.limits, key.limits),
  ].includes(true);
};

const expiryFor = (expiresAt: string | undefined, ttlDays: number, nowMs: number) =>
  new Date(expiresAt === undefined ? nowMs + ttlDays * dayMs : Date.parse(expiresAt)).toISOString();

/** `null` returns to the end that the key would have had if none had been given. */
const changedExpiry = (given: string | null | undefined, { createdAt }: StoredKey, ttlDays: number) =>
  given === undefined ? undefined : expiryFor(given ?? undefined, ttlDays, Date.parse(createdAt));

interface ActivityDeps {
  store: Store;
}

type Activity = Handlers<typeof api.aiAdmin>['activity'];
type Query = Parameters<Activity>[0]['query'];

const iso = (time: string | undefined) => (time === undefined ? undefined : new Date(time).toISOString());

const chainOf = async (store: Store) => {
  const { entries, broken } = await verifyAudit(store.read, store.secrets);
  return { entries, isIntact: broken === undefined, brokenAt: broken?.id ?? null, reason: broken?.reason ?? '' };
};

/** Activity of keys, newest first. */
const readActivity = ({ store }: ActivityDeps): Activity => {
  const approvalsOf = async (query: Query, limit: number, offset: number) => {
    const { keyId: keyID, state, risk, from, to, order = 'desc' } = query;
    const filters = { keyID, state, risk, from: iso(from), to: iso(to) };
    const { rows, total } = await aiApprovals.page(store.read, { key: 'id', order, limit, offset, filters });
    return { total, data: rows.map(approvalView) as Record<string, unknown>[] };
  };
  const auditOf = (query: Query, limit: number, offset: number) => {
    const { by, keyId, userId, operation, state, risk, from, to, order = 'desc' } = query;
    const wanted = { by, keyId, userId, operation, outcome: state, risk, from: iso(from), to: iso(to) };
    return auditPage(store.read, order, { ...wanted, limit, offset });
  };
  return async ({ query }, caller) => {
    if (query.by === 'users') await assertPermission(store, 'users.read', caller);
    const { kind, count = 20, page = 1, verify = false } = query;
    const offset = (page - 1) * count;
    const { total, data } = await (kind === 'approval' ? approvalsOf : auditOf)(query, count, offset);
    const cursor = cursorOf(count, offset, total);
    return verify ? { cursor, data, chain: await chainOf(store) } : { cursor, data };
  };
};

interface Deps extends ActivityDeps {
  store: Store;
  settings: SettingsStore;
  approvals: {
    decide: Handlers<typeof api.aiAdmin>['decide'];
    /** Ends all pending approvals of a key. */
    revokeOfKey(tx: Change, keyId: number): Promise<void>;
  };
}

type StoredKey = NonNullable<Awaited<ReturnType<typeof aiKeys.find>>>;

const shown = async ({ store }: Deps, key: StoredKey): Promise<AiKey> => {
  const { publicId, secretHash: _, previousHash: __, policyVersion, ...members } = key;
  const policy = { ...members.policy, version: policyVersion };
  return { ...members, policy, prefix: prefixOf(publicId), usage: await usageOfKey(store.read, key.id) };
};

const mustFind = async (tx: Store['read'], id: number) => {
  const key = await orNotFound(aiKeys.find(tx, id), 'AI key', id);
  return key;
};

const assertNameFree = async (tx: Change, name: string | undefined, id?: number) => {
  const holder = name === undefined ? undefined : await keyNamed(tx, name);
  if (holder !== undefined && holder !== id)
    throw conflict('DUPLICATE', `AI key ${holder} has this name`, { id: holder, path: '/name' });
};

const assertFreshlySignedIn = async ({ store }: Deps, caller: Caller, what: string) => {
  if (!(await isFreshlySignedIn(store.read, caller.sessionId)))
    throw forbidden('REAUTHENTICATION_REQUIRED', `sign in again: ${what} needs a recent sign-in`);
};

/** The new secret or the wider key acts for its owner, so others than the owner must be administrators. */
const assertMayLoosen = async (deps: Deps, key: StoredKey, patch: KeyPatch, caller: Caller) => {
  if (!isLoosening(patch, key)) return;
  if (key.issuerID !== caller.userId && !allows(caller.permissions, 'system.admin'))
    throw forbidden('NOT_KEY_OWNER', 'only its owner or an administrator can rotate or loosen an AI key', {
      id: key.id,
    });
  assertMayGive(patch.scopes ?? key.scopes, caller.permissions);
  await assertFreshlySignedIn(deps, caller, 'rotating or loosening a key');
};

const createKey =
  (deps: Deps): Handlers<typeof api.aiAdmin>['createKey'] =>
  async ({ body }, caller) => {
    const { store, settings } = deps;
    const now = Date.now();
    await assertFreshlySignedIn(deps, caller, 'creating a key');
    assertMayGive(body.scopes, caller.permissions);
    const { ai } = settings.current();
    assertValidKey(body, ai, now);
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
    return { data: { key: await shown(deps, created), secret: text } };
  };

const updateKey =
  (deps: Deps): Handlers<typeof api.aiAdmin>['updateKey'] =>
  async ({ body }, caller) => {
    const { settings, store, approvals } = deps;
    const { id, updatedAt, rotate = false, revoked, isActive, policy, graceSec: _, ...values } = body;
    const graceSec = body.graceSec ?? 0;
    const { ai } = settings.current();
    assertValidKey(body, ai, Date.now());
    if (values.scopes) assertMayGive(values.scopes, caller.permissions);
    return store.change(caller, async (tx) => {
      const key = await mustFind(tx, id);
      assertFresh('AI key', key, updatedAt);
      if (key.revokedAt !== null) throw conflict('KEY_REVOKED', `AI key ${id} is permanently revoked`, { id });
      const expiresAt = changedExpiry(values.expiresAt, key, ai.keyTtlDays);
      await assertMayLoosen(deps, key, { ...body, ...(expiresAt !== undefined && { expiresAt }) }, caller);
      await assertNameFree(tx, values.name ?? undefined, id);
      const next = rotate ? newKey(key.publicId) : undefined;
      await aiKeys.update(tx, id, {
        ...values,
        ...(expiresAt !== undefined && { expiresAt }),
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
  };

export const aiAdminHandlers = (deps: Deps): Handlers<typeof api.aiAdmin> => {
  const { store, approvals } = deps;

  return {
    keys: async ({ query: { q, state, ...query } }) => {
      const request = pageRequestOf(query, 'id');
      const { rows, total } = await aiKeys.page(store.read, { ...request, filters: keyFilters(q, state) });
      return {
        cursor: cursorOf(request.limit, request.offset, total),
        data: await Promise.all(rows.map((key) => shown(deps, key))),
      };
    },
    createKey: createKey(deps),
    updateKey: updateKey(deps),
    activity: readActivity(deps),
    decide: approvals.decide,
  };
};

const policyOf = (policy: AiKey['policy'] | null) => {
  const { version: _, ...choices } = policy ?? {};
  return choices;
};
