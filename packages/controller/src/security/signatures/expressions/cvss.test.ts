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
  ['CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', '4.0', 9.3],
  ['CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:H/SI:H/SA:H', '4.0', 10],
  ['CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:N/VI:N/VA:N/SC:N/SI:N/SA:N', '4.0', 0],
  ['CVSS:4.0/AV:L/AC:H/AT:N/PR:N/UI:N/VC:L/VI:N/VA:H/SC:N/SI:L/SA:L', '4.0', 5.9],
  ['CVSS:4.0/AV:N/AC:H/AT:N/PR:H/UI:N/VC:H/VI:H/VA:L/SC:N/SI:N/SA:H', '4.0', 8.6],
  ['CVSS:4.0/AV:P/AC:H/AT:P/PR:L/UI:N/VC:N/VI:L/VA:N/SC:N/SI:N/SA:H/E:U/CR:X/IR:H/AR:X', '4.0', 0.2],
  [
    'CVSS:4.0/AV:L/AC:H/AT:P/PR:N/UI:A/VC:L/VI:N/VA:L/SC:H/SI:N/SA:L/E:U/CR:L/IR:M/AR:L/MAV:P/MVC:N/MSI:S/MSA:N',
    '4.0',
    1,
  ],
])('%s is of version %s with a score of %s', (vector, version, score) => {
  expect(cvssScoreOf(vector)).toEqual({ version, score });
});

it.each([
  '',
  'CVSS:3.1/AV:N',
  'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:X/VI:H/VA:H/SC:N/SI:N/SA:N',
  'AV:X/AC:L',
  'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:X/C:H/I:H/A:H',
])('%j is no vector', (vector) => {
  expect(cvssScoreOf(vector)).toBeUndefined();
});

it('scores have words', () => {
  expect([0, 0.1, 3.9, 4, 7, 9].map(severityOfScore)).toEqual(['info', 'low', 'low', 'medium', 'high', 'critical']);
});
