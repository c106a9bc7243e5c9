import type { AiPolicy } from '@rushhour/contract';
import { forbidden, type Issue } from '../../errors.ts';

export type Risk = 'R0' | 'R1' | 'RS' | 'R2' | 'R3';
export type Mode = 'auto' | 'same-key' | 'human';

/** A period in which keys may neither send traffic nor delete anything. */
export interface FreezeWindow {
  readonly from: string;
  readonly to: string;
  readonly reason?: string | undefined;
}

/** Settings that apply to all keys. */
export interface AiRules {
  readonly enabled: boolean;
  readonly allowAutoR2?: boolean | undefined;
  readonly freeze?: readonly FreezeWindow[] | undefined;
}

const defaultModes = { R1: 'auto', RS: 'auto', R2: 'same-key', R3: 'human' } as const satisfies Record<string, Mode>;
const choices: Record<keyof typeof defaultModes, readonly Mode[]> = {
  R1: ['auto', 'same-key', 'human'],
  RS: ['auto', 'same-key'],
  R2: ['same-key', 'human', 'auto'],
  R3: ['human'],
};

const isAllowed = (risk: keyof typeof defaultModes, mode: Mode | undefined, rules: AiRules): mode is Mode =>
  mode !== undefined &&
  choices[risk].includes(mode) &&
  (risk !== 'R2' || mode !== 'auto' || rules.allowAutoR2 === true);

/** Who must confirm. A policy that is no longer allowed is ignored. */
export const modeFor = (risk: Risk, policy: AiPolicy, rules: AiRules): Mode => {
  if (risk === 'R0') return 'auto';
  const requested = policy[risk] as Mode | undefined;
  return isAllowed(risk, requested, rules) ? requested : defaultModes[risk];
};

/** Policies that a key cannot have. */
export const policyIssues = (policy: AiPolicy, rules: AiRules): Issue[] =>
  (Object.keys(defaultModes) as (keyof typeof defaultModes)[])
    .filter((risk) => policy[risk] !== undefined && !isAllowed(risk, policy[risk], rules))
    .map((risk) => ({
      path: `/policy/${risk}`,
      code: 'POLICY_NOT_ALLOWED',
      message: `${policy[risk]} is not allowed for ${risk}`,
    }));

/** Number of users who must approve. */
export const decisionsFor = (mode: Mode, { count = 1 }: AiPolicy) => (mode === 'human' ? count : 0);

/** Stopping is never forbidden. */
const isHeldBack = (risk: Risk) => risk === 'R2' || risk === 'R3';

/** Freeze windows and the switch beat every policy. */
export const assertOpen = (risk: Risk, { enabled, freeze = [] }: AiRules, nowMs: number) => {
  if (!enabled) throw forbidden('AI_GATEWAY_DISABLED', 'the AI gateway is disabled');
  if (!isHeldBack(risk)) return;
  const window = freeze.find(({ from, to }) => Date.parse(from) <= nowMs && nowMs < Date.parse(to));
  if (window === undefined) return;
  throw forbidden('AI_FROZEN', `nothing may be started or deleted until ${window.to}`, {
    until: window.to,
    reason: window.reason ?? '',
  });
};

const confirmMs = 600_000;
const decisionMs = 86_400_000;
const maxDecisionMs = 7 * decisionMs;

/** Expiry of a new or newly approved request. */
export const expiryOf = (mode: Mode, { decisionSec }: AiPolicy, nowMs: number, isUnlocked = false): string => {
  const decidedInMs = decisionSec === undefined ? decisionMs : Math.min(decisionSec * 1000, maxDecisionMs);
  return new Date(nowMs + (mode === 'human' && !isUnlocked ? decidedInMs : confirmMs)).toISOString();
};
