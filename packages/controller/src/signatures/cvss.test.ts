import { expect, it } from 'vitest';
import { cvssScoreOf, severityOfScore } from './cvss.ts';

it.each([
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', '3.1', 10],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', '3.1', 9.8],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N', '3.1', 6.1],
  ['CVSS:3.0/AV:L/AC:H/PR:L/UI:N/S:U/C:H/I:N/A:N', '3.0', 4.7],
  ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N', '3.1', 0],
  ['AV:N/AC:L/Au:N/C:C/I:C/A:C', '2.0', 10],
  ['AV:N/AC:M/Au:N/C:N/I:P/A:N', '2.0', 4.3],
  ['CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', '4.0', undefined],
])('%s is of version %s with a score of %s', (vector, version, score) => {
  expect(cvssScoreOf(vector)).toEqual({ version, score });
});

it.each(['', 'CVSS:3.1/AV:N', 'AV:X/AC:L', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:X/C:H/I:H/A:H'])(
  '%j is no vector',
  (vector) => {
    expect(cvssScoreOf(vector)).toBeUndefined();
  },
);

it('scores have words', () => {
  expect([0, 0.1, 3.9, 4, 7, 9].map(severityOfScore)).toEqual(['info', 'low', 'low', 'medium', 'high', 'critical']);
});
