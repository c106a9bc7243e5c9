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

it('reports a missing response in its own words', () => {
  expect(explain(new TypeError('Failed to fetch'))).not.toContain('fetch');
});
