import { api } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { createJudge } from './judge.ts';

const judge = createJudge(api.projects.routes.get);
const answer = (status: number, body: unknown, type = 'application/json') => ({
  status,
  headers: new Map([['content-type', type]]),
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const fine = { method: 'GET', expectsRefusal: false };
const envelope = { data: { code: 'X', requestId: '1' }, error: 'a sentence' };

it('accepts answers that satisfy the rules', () => {
  expect(judge(answer(404, envelope), fine)).toBeUndefined();
  expect(judge(answer(200, { other: 1 }), { ...fine, method: 'DELETE' })).toBeUndefined();
});

it.each([
  ['a 500', answer(500, envelope), /answered 500/],
  ['an undocumented status', answer(418, envelope), /not documented/],
  ['an error without the envelope', answer(400, { message: 'no' }), /without the envelope/],
  ['an error that is no JSON', answer(400, '<html>', 'text/html'), /no JSON/],
  ['a stack trace', answer(400, { ...envelope, error: 'x at run (store/table.ts:12)' }), /leaks internals/],
  ['SQL in the text', answer(400, { ...envelope, error: 'select * from users' }), /leaks internals/],
  ['an incomplete reply', answer(200, { ID: 1 }), /does not match/],
])('reports %s', (_, bad, problem) => {
  expect(judge(bad, fine)).toMatch(problem);
});

it('reports a request that should have been refused', () => {
  expect(judge(answer(200, {}), { ...fine, expectsRefusal: true })).toMatch(/accepted/);
});
