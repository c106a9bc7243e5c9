import { BlockList, isIPv6 } from 'node:net';
import { AiConstraints, AiLimits, AiPolicy } from '@rushhour/contract';
import type { TProperties } from 'typebox';
import type { AiKeyFacts } from '../../caller.ts';
import { forbidden, unauthenticated } from '../../errors.ts';
import { findOwnedKey } from '../../store/ai/ai-keys.ts';
import { decoderOf } from '../../store/engine/row.ts';
import type { Store } from '../../store/store.ts';
import { tables } from '../../store/tables/index.ts';
import { fits, parseKey, prefixOf } from './keys.ts';
import type { createBadKeyThrottle } from './limits.ts';
import { coveredScopes } from './scopes.ts';

type OwnedKey = NonNullable<Awaited<ReturnType<typeof findOwnedKey.first>>>;
type KeyRecord = ReturnType<typeof decodeKey>;

const decodeKey = decoderOf(tables.aiKeys) as (row: Record<string, unknown>) => {
  [K in keyof typeof tables.aiKeys]: NonNullable<(typeof tables.aiKeys)[K]['value']>;
};

/** Where a client sends its key. */
export interface KeyHeaders {
  header(name: string): string | undefined;
}

/** The key as the client sent it: in X-API-Key, or as a bearer token. */
export const presentedKey = ({ header }: KeyHeaders): string => {
  const direct = header('x-api-key');
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(header('authorization') ?? '')?.[1];
  if (direct !== undefined && bearer !== undefined && direct !== bearer) throw invalidKey();
  const key = direct ?? bearer;
  if (key === undefined || key === '') throw unauthenticated('AI_KEY_MISSING', 'send an AI key in X-API-Key');
  return key;
};

/** One text for unknown, wrong, expired and revoked keys. */
export const invalidKey = () => unauthenticated('AI_KEY_INVALID', 'this AI key is not valid');

const defaultsOf = (schema: object) =>
  Object.fromEntries(
    Object.entries((schema as { properties: TProperties }).properties)
      .filter(([, member]) => 'default' in member)
      .map(([name, member]) => [name, (member as { default?: unknown }).default]),
  );
const defaults = { policy: defaultsOf(AiPolicy), constraints: defaultsOf(AiConstraints), limits: defaultsOf(AiLimits) };

/** The settings of a key with defaults. */
export const keyFacts = (
  record: KeyRecord,
  owner: { id: number; realName: string; permissions: ReadonlySet<number> },
): AiKeyFacts => ({
  id: record.id,
  name: record.name,
  prefix: prefixOf(record.publicId),
  owner: { id: owner.id, realName: owner.realName },
  scopes: record.scopes,
  effectiveScopes: new Set(coveredScopes(record.scopes, owner.permissions)),
  policy: { ...defaults.policy, ...record.policy, version: record.policyVersion } as AiKeyFacts['policy'],
  constraints: { ...defaults.constraints, ...record.constraints } as AiKeyFacts['constraints'],
  limits: { ...defaults.limits, ...record.limits } as AiKeyFacts['limits'],
  ipAllowlist: record.ipAllowlist,
  expiresAt: record.expiresAt,
});

const isUsable = (row: OwnedKey, now: string) =>
  row.isActive === 1 &&
  row.revokedAt === null &&
  row.expiresAt > now &&
  row.ownerIsActive === 1 &&
  row.ownerDeletedAt === null;

const isRight = (row: OwnedKey | undefined, secret: string, now: string) => {
  const isCurrent = fits(secret, row?.secretHash);
  const isPrevious =
    row?.previousValidUntil != null && row.previousValidUntil > now && fits(secret, row.previousHash ?? undefined);
  return isCurrent || isPrevious;
};

export interface Authenticated {
  key: AiKeyFacts;
  permissions: ReadonlySet<number>;
}

/** Finds the current key of a request: revoked rights of the key or its owner take effect at once. */
export const authenticate = async (
  store: Store,
  throttle: Pick<ReturnType<typeof createBadKeyThrottle>, 'assertMayTry' | 'count'>,
  visit: KeyHeaders & { address: string },
): Promise<Authenticated> => {
  throttle.assertMayTry(visit.address);
  const text = presentedKey(visit);
  const refuse = (): never => {
    throttle.count(visit.address);
    throw invalidKey();
  };
  const parsed = parseKey(text);
  if (parsed === undefined) return refuse();
  const row = await findOwnedKey.first(store.read, { publicId: parsed.publicId });
  const now = new Date().toISOString();
  const isFine = isRight(row, parsed.secret, now);
  if (row === undefined || !isFine || !isUsable(row, now)) return refuse();
  const permissions = new Set((JSON.parse(row.ownerPermissions) as { value: number }[]).map(({ value }) => value));
  const owner = { id: row.issuerID as number, realName: row.realName, permissions };
  return { key: keyFacts(decodeKey(row as never), owner), permissions };
};

const blockListOf = (ranges: readonly string[]) => {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', length] = range.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return list;
};

/** Refuses calls from addresses outside the key's allow-list. */
export const assertAddress = ({ ipAllowlist }: AiKeyFacts, address: string) => {
  if (ipAllowlist.length === 0) return;
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  if (!blockListOf(ipAllowlist).check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4'))
    throw forbidden('AI_CONSTRAINT', 'this key may not be used from this address', { constraint: 'ipAllowlist' });
};
