import { isIP } from 'node:net';
import type { AiKeyDraft, AiScope } from '@rushhour/contract';
import { forbidden, type Issue, invalid } from '../../errors.ts';
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

/** Refuses what no key may have, all problems at once. */
export const assertSoundKey = (given: Given, rules: AiRules, nowMs: number) => {
  const issues = [
    ...expiryIssues(given.expiresAt ?? undefined, nowMs),
    ...rangeIssues(given.ipAllowlist ?? undefined, '/ipAllowlist'),
    ...rangeIssues(given.constraints?.targetCidrs, '/constraints/targetCidrs'),
    ...policyIssues(given.policy ?? {}, rules),
  ];
  if (issues.length > 0) throw invalid(issues);
};

/** Nobody hands out what they may not do themselves. */
export const assertMayGive = (scopes: readonly AiScope[], held: ReadonlySet<number>) => {
  const covered = new Set(coveredScopes(scopes, held));
  const beyond = scopes.filter((scope) => !covered.has(scope));
  if (beyond.length === 0) return;
  throw forbidden('SCOPE_BEYOND_RIGHTS', `your own permissions do not cover ${beyond.join(', ')}`, { scopes: beyond });
};

export const expiryFor = (expiresAt: string | undefined, ttlDays: number, nowMs: number) =>
  new Date(expiresAt === undefined ? nowMs + ttlDays * dayMs : Date.parse(expiresAt)).toISOString();
