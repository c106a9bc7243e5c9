import { expect, it } from 'vitest';
import {
  type AiRules,
  assertOpen,
  decisionsFor,
  expiryOf,
  type Mode,
  modeFor,
  policyIssues,
  type Risk,
} from './policy.ts';

const rules: AiRules = { enabled: true };

it.each<[Risk, Mode | undefined, boolean, Mode]>([
  ['R0', undefined, false, 'auto'],
  ['R1', undefined, false, 'auto'],
  ['R1', 'human', false, 'human'],
  ['RS', undefined, false, 'auto'],
  ['RS', 'same-key', false, 'same-key'],
  ['RS', 'human', false, 'auto'],
  ['R2', undefined, false, 'same-key'],
  ['R2', 'human', false, 'human'],
  ['R2', 'auto', false, 'same-key'],
  ['R2', 'auto', true, 'auto'],
  ['R3', undefined, true, 'human'],
  ['R3', 'auto', true, 'human'],
  ['R3', 'same-key', true, 'human'],
])('%s, asked for as %s (auto for traffic allowed: %s), is confirmed by %s', (risk, requested, allowAutoR2, mode) => {
  const policy = (risk === 'R0' || requested === undefined ? {} : { [risk]: requested }) as object;
  expect(modeFor(risk, policy, { ...rules, allowAutoR2 })).toBe(mode);
});

it('tells which choices are not to be had', () => {
  expect(policyIssues({ R2: 'auto', R1: 'human', R3: 'human' }, rules).map(({ path }) => path)).toEqual(['/policy/R2']);
  expect(policyIssues({ R2: 'auto' }, { ...rules, allowAutoR2: true })).toEqual([]);
});

it('asks for people only where people decide', () => {
  expect(decisionsFor('human', {})).toBe(1);
  expect(decisionsFor('human', { count: 3 })).toBe(3);
  expect(decisionsFor('same-key', { count: 3 })).toBe(0);
});

it('lets traffic be stopped in a freeze window, and nothing else', () => {
  const now = Date.parse('2026-11-15T12:00:00Z');
  const freeze = [{ from: '2026-11-15T00:00:00Z', to: '2026-11-16T00:00:00Z', reason: 'release' }];
  for (const risk of ['R0', 'R1', 'RS'] as const) assertOpen(risk, { ...rules, freeze }, now);
  for (const risk of ['R2', 'R3'] as const) {
    expect(() => assertOpen(risk, { ...rules, freeze }, now)).toThrow(/2026-11-16/);
    assertOpen(risk, { ...rules, freeze }, now + 86_400_000);
    expect(() => assertOpen('RS', { enabled: false }, now)).toThrow(/disabled/);
  }
});

it('gives people a day, and ten minutes to confirm', () => {
  const minutes = (text: string) => Date.parse(text) / 60_000;
  expect(minutes(expiryOf('same-key', {}, 0))).toBe(10);
  expect(minutes(expiryOf('human', {}, 0))).toBe(24 * 60);
  expect(minutes(expiryOf('human', { decisionSec: 600 }, 0))).toBe(10);
  expect(minutes(expiryOf('human', { decisionSec: 1e9 }, 0))).toBe(7 * 24 * 60);
  expect(minutes(expiryOf('human', {}, 0, true))).toBe(10);
});
