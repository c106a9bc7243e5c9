import { expect, it } from 'vitest';
import { byJudgement, categoriesIn, filterAttempts, judgementOf, outcomeText } from './attempt-filter.ts';
import type { ReportedAttempt } from './security-report.ts';

const attemptOf = (members: object) =>
  ({
    ...{ refName: 'sqli 1', variant: 'url/url-param', reason: 'seen', mechanism: null, techniques: [] },
    ...{ category: 'sqli', outcome: 'blocked', expected: 'block' },
    ...members,
  }) as unknown as ReportedAttempt;

const all = [
  attemptOf({ mechanism: 'tcp-reset' }),
  attemptOf({ outcome: 'passed', techniques: ['T1190'] }),
  attemptOf({ category: 'xss', refName: 'Script', outcome: 'passed' }),
];
const none = { outcome: '', category: '', search: '' };

it('matches everything when empty', () => {
  expect(filterAttempts(all, none)).toEqual(all);
});

it('combines outcome, category and text', () => {
  expect(filterAttempts(all, { ...none, outcome: 'bypassed' })).toEqual(all.slice(1));
  expect(filterAttempts(all, { ...none, outcome: 'bypassed', category: 'xss' })).toEqual([all[2]]);
  expect(filterAttempts(all, { ...none, search: ' TCP-Reset ' })).toEqual([all[0]]);
  expect(filterAttempts(all, { ...none, search: 't1190' })).toEqual([all[1]]);
  expect(filterAttempts(all, { ...none, search: 'script', category: 'sqli' })).toEqual([]);
});

it('names every category once', () => {
  expect(categoriesIn([...all, attemptOf({ category: '' })])).toEqual(['sqli', 'xss']);
});

it('judges harmless requests the other way round, and lists bypasses first', () => {
  const blockedAttack = attemptOf({});
  const bypass = attemptOf({ outcome: 'passed' });
  const fine = attemptOf({ outcome: 'passed', expected: 'allow' });
  const wrong = attemptOf({ expected: 'allow' });
  const given = [blockedAttack, fine, wrong, bypass];
  expect(given.map(judgementOf)).toEqual(['blocked', 'ok', 'falsePositive', 'bypassed']);
  expect(byJudgement(given)).toEqual([bypass, wrong, blockedAttack, fine]);
});

it('says in words what became of an attempt in another run', () => {
  expect(outcomeText('waf', 'passed')).toBe('Bypassed');
  expect(outcomeText('benign', 'passed')).toBe('OK');
  expect(outcomeText('benign', 'blocked (block-page)')).toBe('False positive (Block page)');
  expect(outcomeText('cve', 'blocked (tcp-reset)')).toBe('Blocked (TCP reset)');
  expect(outcomeText('cve', 'new-outcome')).toBe('new-outcome');
});
