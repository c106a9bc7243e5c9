import { expect, it } from 'vitest';
import { explainIssues } from './issues.ts';

it('lists every issue', () => {
  const issues = [
    { path: '/subnet', message: 'is no CIDR' },
    { path: '', message: 'is wrong' },
  ];
  expect(explainIssues(issues)).toBe('Subnet: is no CIDR\nIs wrong.');
});

it('names fields by their labels, and hides regular expressions', () => {
  const issues = [
    { path: '/configuration/0/values/wafModules/modules/1/name', message: 'must match pattern "^[a-z]$"' },
  ];
  expect(explainIssues(issues)).toBe('Attack modules 2 › Name: has an invalid format');
});
