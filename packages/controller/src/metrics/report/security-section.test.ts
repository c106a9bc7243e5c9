import { expect, it } from 'vitest';
import { rateOf } from '../../security/verdicts/rates.ts';
import type { Exhibit, SecurityReport } from '../../security/verdicts/security-report.ts';
import { securitySection } from './security-section.ts';

const counts = { attempts: 10_000, blocked: 9000, modified: 0, passed: 1000, inconclusive: 0, error: 0, skipped: 0 };
const change = { kind: 'waf', refName: 'an attack', variant: 'plain', before: 'blocked', after: 'passed' };
const exhibit = { refName: 'through', variant: 'plain', severity: 'high', request: 'GET /', curl: '' } as Exhibit;
const control = (isGood: boolean) => ({ at: 'now', reason: 'periodic', target: '10.0.0.1:80', isGood, detail: '' });

/** Of ten thousand attempts, most of which changed since the baseline. */
const report = {
  ...{
    device: 'd',
    fingerprints: [],
    isConclusive: true,
    matrix: [],
    owasp: [],
    mechanisms: [],
    evasion: [],
    forms: [],
  },
  rates: {
    ...{ attacks: counts, benign: counts, balancedScore: 1, weightedBlockRate: 1 },
    ...{ blockRate: rateOf(9, 10), falsePositiveRate: rateOf(0, 10), evasionResistance: rateOf(1, 1) },
    ...{ coverage: rateOf(10, 10), detectionRate: rateOf(0, 0), benignLatencyMs: null, quietLatencyMs: null },
  },
  passed: Array.from({ length: 500 }, () => exhibit),
  falsePositives: [],
  firstPassed: { refName: 'the first', variant: 'plain', startedAt: 'then', attemptID: '1' },
  totals: { passed: 1000, falsePositives: 0, withTexts: 500, unlisted: 0 },
  ...{ techniques: [], malware: null, campaign: null, findings: [], attempts: [], baselineRunID: 7 },
  controls: [...Array.from({ length: 1000 }, () => control(true)), control(false)],
  comparison: {
    newlyPassed: Array.from({ length: 3000 }, () => change),
    ...{ newlyBlocked: [change], newFalsePositives: [], changedMechanism: [], incomparable: 0 },
  },
  gate: { passed: true, thresholds: [] },
} as unknown as SecurityReport;

it('reports begin with what changed and what got through, and long lists say what is left out', () => {
  const html = securitySection(report);
  const order = ['Compared with run 7', 'Block rate', 'the first', 'Attacks not blocked', 'By category', 'Path checks'];
  const found = order.map((text) => html.indexOf(text));
  expect(found.every((at) => at >= 0)).toBe(true);
  expect(found).toEqual(found.toSorted((a, b) => a - b));
  expect(html).toContain('Newly passed: 3000 · New false positive: 0 · Newly blocked: 1');
  expect(html).toContain('200 of 3001 are listed');
  expect(html).toContain('500 of 1000 are listed');
  expect(html).toContain('1 of 1001 failed');
  expect(html.indexOf('<td>failed</td>')).toBeGreaterThan(0);
  expect(html.split('<tr>').length).toBeLessThan(1000);
});
