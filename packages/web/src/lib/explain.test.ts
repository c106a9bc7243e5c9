import { RequestFailed } from '@rushhour/client';
import { expect, it } from 'vitest';
import { explain } from './explain.ts';

const failed = (status: number, data: object, message: string) =>
  new RequestFailed(status, { code: 'X', requestId: '1', ...data }, message);

it('names the missing permission', () => {
  const sentence = explain(failed(403, { code: 'FORBIDDEN', permission: 'networks.write' }, 'you may not do this'));
  expect(sentence).toContain('You may not do this.');
  expect(sentence).toContain('networks.write');
});

it('explains a conflict and what to do about it', () => {
  const sentence = explain(failed(409, { code: 'STALE_OBJECT' }, 'network 3 was changed meanwhile'));
  expect(sentence.split('\n')).toHaveLength(2);
  expect(sentence).toContain('Network 3 was changed meanwhile.');
});

it('lists every issue', () => {
  const issues = [
    { path: '/subnet', code: 'CIDR', message: 'is no CIDR' },
    { path: '', code: 'X', message: 'is wrong' },
  ];
  expect(explain(failed(400, { issues }, '/subnet is no CIDR'))).toBe('Subnet: is no CIDR\nIs wrong.');
});

it('names fields by their labels, and hides regular expressions', () => {
  const issues = [
    { path: '/configuration/0/values/wafModules/modules/1/name', code: 'X', message: 'must match pattern "^[a-z]$"' },
  ];
  expect(explain(failed(400, { issues }, 'invalid'))).toBe('Attack modules 2 › Name: has an invalid format');
});

it('reports a missing response in its own words', () => {
  expect(explain(new TypeError('Failed to fetch'))).not.toContain('fetch');
});
