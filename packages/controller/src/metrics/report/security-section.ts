import type { AttackCounts, LatencyMs, Rate } from '../../security/verdicts/rates.ts';
import type { Exhibit, SecurityReport } from '../../security/verdicts/security-report.ts';
import { cell, escaped, table } from './report-text.ts';

const percent = (value: number | null) => (value === null ? '–' : `${(value * 100).toFixed(1)} %`);

const rateText = ({ value, ci95, n, isGraded }: Rate) =>
  value === null || ci95 === null
    ? '–'
    : `${percent(value)} (95 % CI ${percent(ci95[0])}–${percent(ci95[1])}, n = ${n}${isGraded ? '' : ', not enough data'})`;

const countCells = ({ attempts, blocked, modified, passed, inconclusive }: AttackCounts) =>
  [attempts, blocked, modified, passed, inconclusive].map((count) => cell(count, 'n')).join('');
const countHead = ['Attempts', 'Blocked', 'Modified', 'Passed', 'Inconclusive'];

const latencyText = (latency: LatencyMs | null) =>
  latency ? `p50 ${latency.p50} ms, p95 ${latency.p95} ms, p99 ${latency.p99} ms` : '–';

const summaryOf = ({ rates, isConclusive, device, gate, fingerprints }: SecurityReport) => {
  const rows = [
    ['Device', device || '–'],
    ['Block rate', rateText(rates.blockRate)],
    ['False positive rate', rateText(rates.falsePositiveRate)],
    ['Balanced score', percent(rates.balancedScore)],
    ['Block rate, weighted by severity', percent(rates.weightedBlockRate)],
    ['Evasion resistance', rateText(rates.evasionResistance)],
    ['Coverage', rateText(rates.coverage)],
    ['Latency of benign requests before the first attack', latencyText(rates.quietLatencyMs)],
    ['Latency of benign requests during attacks', latencyText(rates.benignLatencyMs)],
    ['Gate', gate.thresholds.length === 0 ? 'not configured' : gate.passed ? 'passed' : 'failed'],
    ['Hashes of attempts', fingerprints.map((hash) => hash.slice(0, 12)).join(', ')],
  ].map(([name, text]) => `<tr><th>${escaped(name)}</th>${cell(text)}</tr>`);
  const doubt = isConclusive ? '' : '<p class="warn">Inconclusive: too few attempts were decided.</p>';
  return `${doubt}<table><tbody>${rows.join('')}</tbody></table>`;
};

const scoreText = (score: number | null | undefined, digits: number) =>
  score === null || score === undefined ? '–' : score.toFixed(digits);

const packetLinks = (packets: readonly string[] = []) =>
  packets.map((address) => `<p><a href="${escaped(address)}">Packets</a></p>`).join('');

/** Lists that are cut say so. */
const shareText = (listed: number, total: number) =>
  listed < total
    ? `<p class="warn">${listed} of ${total} are listed, worst first; the CSV report has all of them.</p>`
    : '';

const firstPassedOf = ({ firstPassed }: SecurityReport) =>
  firstPassed === null
    ? ''
    : `<p>First attack that got through: ${escaped(firstPassed.refName)} (${escaped(firstPassed.variant)}) at ${escaped(firstPassed.startedAt)}</p>`;

const formsOf = ({ forms }: SecurityReport) => {
  if (forms.length === 0) return '';
  const rows = forms.map(
    (row) => `<tr>${cell(row.name)}${cell(row.encoder)}${cell(row.position)}${countCells(row)}</tr>`,
  );
  return `<h3>By module, encoder and position</h3>${table(['Module', 'Encoder', 'Position', ...countHead], rows)}`;
};

/** Attacks that passed, with the facts of their signatures. */
const passedOf = ({ passed, totals }: SecurityReport) => {
  if (passed.length === 0) return '<h3>Attacks not blocked</h3><p>None</p>';
  const head = ['Attack', 'Variant', 'Severity', 'CVE', 'CWE', 'CVSS', 'EPSS', 'KEV', 'Request and remediation'];
  const rows = passed.map(({ refName, variant, severity, request, curl, signature, weakness, packets }) => {
    const cwe = (signature ?? weakness)?.cweIDs.join(' ') || '–';
    const names = [refName, variant, severity, signature?.cveIDs.join(' ') || '–', cwe];
    const scores = [scoreText(signature?.cvssScore, 1), scoreText(signature?.epssScore, 3)];
    const remedy = signature?.remediation ? `<p>${escaped(signature.remediation.slice(0, 1000))}</p>` : '';
    const cells = [
      ...names.map((text) => cell(text)),
      ...scores.map((text) => cell(text, 'n')),
      cell(signature?.kev ? 'yes' : '–'),
    ];
    const again = curl === '' ? '' : `<pre>${escaped(curl.slice(0, 1000))}</pre>`;
    return `<tr>${cells.join('')}<td><pre>${escaped(request.slice(0, 600))}</pre>${again}${remedy}${packetLinks(packets)}</td></tr>`;
  });
  return `<h3>Attacks not blocked</h3>${shareText(passed.length, totals.passed)}${table(head, rows)}`;
};

const exhibits = (title: string, all: readonly Exhibit[]) =>
  `<h3>${escaped(title)}</h3>${
    all.length === 0
      ? '<p>None</p>'
      : table(
          ['Request', 'Variant', 'Severity', 'Content'],
          all.map(
            ({ refName, variant, severity, request, packets }) =>
              `<tr>${cell(refName)}${cell(variant)}${cell(severity)}<td><pre>${escaped(request.slice(0, 600))}</pre>${packetLinks(packets)}</td></tr>`,
          ),
        )
  }`;

/** By the lists of the OWASP, with a link to each. */
const owaspOf = ({ owasp }: SecurityReport) => {
  if (owasp.length === 0) return '';
  const rows = owasp.map(
    (row) => `<tr><td><a href="${escaped(row.reference)}">${escaped(row.name)}</a></td>${countCells(row)}</tr>`,
  );
  return `<h3>Payloads by OWASP category</h3>${table(['Category', ...countHead], rows)}`;
};

const maxListed = 200;

/** The first rows, and how many there are. */
const firstRows = (head: readonly string[], rows: readonly string[]) =>
  rows.length <= maxListed
    ? table(head, rows)
    : `<p class="warn">${maxListed} of ${rows.length} are listed; the JSON report has all of them.</p>${table(head, rows.slice(0, maxListed))}`;

const comparisonOf = ({ comparison, baselineRunID }: SecurityReport) => {
  if (comparison === null) return '';
  const groups = [
    ['Newly passed', comparison.newlyPassed],
    ['New false positive', comparison.newFalsePositives],
    ['Newly blocked', comparison.newlyBlocked],
    ['Blocked differently', comparison.changedMechanism],
  ] as const;
  const rows = groups.flatMap(([name, all]) =>
    all.map(
      ({ refName, variant, before, after }) =>
        `<tr>${[name, refName, variant, before, after].map((text) => cell(text)).join('')}</tr>`,
    ),
  );
  const head = ['Change', 'Attack', 'Variant', 'Before', 'Now'];
  const counts = groups.map(([name, all]) => `${name}: ${all.length}`).join(' · ');
  const title = `<h3>Compared with run ${escaped(baselineRunID)}</h3>`;
  return `${title}${rows.length === 0 ? '<p>No change from the previous run</p>' : `<p>${counts}</p>${firstRows(head, rows)}`}`;
};

const malwareOf = ({ malware }: SecurityReport) => {
  if (malware === null) return '';
  const groups = [
    ['Type', malware.byType],
    ['Container', malware.byContainer],
    ['Transport', malware.byTransport],
  ] as const;
  const rows = groups.flatMap(([group, all]) =>
    all.map((row) => `<tr>${cell(group)}${cell(row.name)}${countCells(row)}</tr>`),
  );
  const missed = malware.missedContainers.join(', ') || 'none';
  return `<h3>Samples</h3><p>Containers in which samples passed: ${escaped(missed)}</p>${table(['By', 'Name', ...countHead], rows)}`;
};

const campaignOf = ({ campaign }: SecurityReport) => {
  if (campaign === null) return '';
  const rows = campaign.timeline.map(
    ({ at, refName, variant, tactic, techniques, outcome, mechanism }) =>
      `<tr>${[at, refName, variant, tactic, techniques.join(', '), outcome, mechanism ?? ''].map((text) => cell(text)).join('')}</tr>`,
  );
  const head = ['Time', 'Campaign', 'Step', 'Tactic', 'Technique', 'Outcome', 'Mechanism'];
  const shown = rows.length < campaign.steps ? `<p>The first ${rows.length} of ${campaign.steps} steps</p>` : '';
  return `<h3>Campaigns</h3>${shown}${firstRows(head, rows)}${hellosOf(campaign.hellos)}`;
};

const hellosOf = (hellos: NonNullable<SecurityReport['campaign']>['hellos']) => {
  if (hellos.length === 0) return '';
  const rows = hellos.map(
    ({ ja4, ja3, steps, attempts, changed }) =>
      `<tr>${[ja4, ja3, steps.join(', ')].map((text) => cell(text)).join('')}${cell(attempts, 'n')}${cell(changed.join(', ') || 'unchanged')}</tr>`,
  );
  return `<h3>TLS fingerprints</h3>${firstRows(['JA4', 'JA3', 'Steps', 'Attempts', 'At the server'], rows)}`;
};

/** Those that failed come first: thousands that passed say one thing. */
const controlsOf = ({ controls }: SecurityReport) => {
  const failed = controls.filter(({ isGood }) => !isGood);
  const rows = [...failed, ...controls.filter(({ isGood }) => isGood)].map(
    ({ at, reason, target, isGood, detail }) =>
      `<tr>${[at, reason, target, isGood ? 'passed' : 'failed', detail].map((text) => cell(text)).join('')}</tr>`,
  );
  const head = ['Time', 'Reason', 'Target', 'Result', 'Detail'];
  return `<h3>Path checks</h3><p>${failed.length} of ${controls.length} failed</p>${firstRows(head, rows)}`;
};

/** The part of the report on security tests: what changed, then what got through, then everything else. */
export const securitySection = (report: SecurityReport | null): string => {
  if (report === null) return '<p>Not a security test</p>';
  const matrix = report.matrix.map((row) => `<tr>${cell(row.name)}${cell(row.severity)}${countCells(row)}</tr>`);
  const mechanisms = report.mechanisms.map(({ mechanism, count }) => `<tr>${cell(mechanism)}${cell(count, 'n')}</tr>`);
  const evasion = report.evasion.map((row) => `<tr>${cell(row.name)}${countCells(row)}</tr>`);
  const techniques = report.techniques.map((row) => `<tr>${cell(row.name)}${countCells(row)}</tr>`);
  return [
    comparisonOf(report),
    summaryOf(report),
    firstPassedOf(report),
    passedOf(report),
    shareText(report.falsePositives.length, report.totals.falsePositives),
    exhibits('False positives', report.falsePositives),
    `<h3>By category and severity</h3>${table(['Category', 'Severity', ...countHead], matrix)}`,
    owaspOf(report),
    formsOf(report),
    `<h3>Blocking mechanisms</h3>${table(['Mechanism', 'Attempts'], mechanisms)}`,
    `<h3>Evasion variants</h3>${table(['Variant', ...countHead], evasion)}`,
    `<h3>Techniques (ATT&amp;CK)</h3>${table(['Technique', ...countHead], techniques)}`,
    malwareOf(report),
    campaignOf(report),
    controlsOf(report),
  ].join('');
};
