import { expect, it } from 'vitest';
import { categoriesIn, chosenAttempts } from './chosen-attempts.ts';
import type { ReportedAttempt } from './security-report.ts';

const attemptOf = (members: object) =>
  ({
    ...{ refName: 'sqli 1', variant: 'url/url-param', reason: 'seen', mechanism: null, techniques: [] },
    ...{ category: 'sqli', outcome: 'blocked' },
    ...members,
  }) as unknown as ReportedAttempt;

const all = [
  attemptOf({ mechanism: 'tcp-reset' }),
  attemptOf({ outcome: 'passed', techniques: ['T1190'] }),
  attemptOf({ category: 'xss', refName: 'Script', outcome: 'passed' }),
];
const wish = { outcome: '', category: '', search: '' };

it('shows everything unless something is wanted', () => {
  expect(chosenAttempts(all, wish)).toEqual(all);
});

it('chooses by outcome, category and words, all together', () => {
  expect(chosenAttempts(all, { ...wish, outcome: 'passed' })).toEqual(all.slice(1));
  expect(chosenAttempts(all, { ...wish, outcome: 'passed', category: 'xss' })).toEqual([all[2]]);
  expect(chosenAttempts(all, { ...wish, search: ' TCP-Reset ' })).toEqual([all[0]]);
  expect(chosenAttempts(all, { ...wish, search: 't1190' })).toEqual([all[1]]);
  expect(chosenAttempts(all, { ...wish, search: 'script', category: 'sqli' })).toEqual([]);
});

it('names every category once', () => {
  expect(categoriesIn([...all, attemptOf({ category: '' })])).toEqual(['sqli', 'xss']);
});
