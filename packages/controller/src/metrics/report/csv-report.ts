import type { MetricValue, Rfc2544Result, RunTableRow } from '@rushhour/contract';
import type { SecurityReport, ShownAttempt } from '../../security/verdicts/security-report.ts';
import { goalLines } from './goal-section.ts';
import type { ReportData } from './report-data.ts';

const columns = [
  'fps',
  'bps',
  'linePct',
  'limit',
  'trials',
  'ratePct',
  'offeredFps',
  'sent',
  'received',
  'lossPct',
  'frames',
  'minUs',
  'avgUs',
  'p50Us',
  'p99Us',
  'maxUs',
  'burstFps',
  'repeats',
  'isLongest',
] as const;

const rfc2544Head = ['run', 'entry', 'frameSize', 'test', ...columns];

type Members = Partial<Record<(typeof columns)[number], unknown>>;

/** The results of all tests, a line each. */
export const rfc2544Lines = (runId: number, rows: readonly Rfc2544Result[]): unknown[][] =>
  rows.flatMap(({ configurationIndex, frameSize, throughput, latency, frameLoss, backToBack }) => {
    const line = (test: string, members: Members) => [
      runId,
      configurationIndex,
      frameSize,
      test,
      ...columns.map((name) => members[name]),
    ];
    return [
      ...(throughput ? [line('throughput', throughput)] : []),
      ...(latency ? [line('latency', latency)] : []),
      ...frameLoss.map((step) => line('frameLoss', step)),
      ...(backToBack ? [line('backToBack', backToBack)] : []),
    ];
  });

const members = ['sum', 'rate', 'count', 'min', 'max', 'avg', 'p50', 'p90', 'p95', 'p99', 'p999', 'last'] as const;

/** Marks a text that a spreadsheet would take for a formula as text. */
const field = (value: unknown): string => {
  const text = value === null || value === undefined ? '' : String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const line = (values: readonly unknown[]) => `${values.map(field).join(',')}\r\n`;

const valuesOf = (metric: MetricValue) => members.map((member) => metric[member]);

const attemptMembers = [
  'attemptID',
  'kind',
  'refID',
  'refName',
  'variant',
  'category',
  'severity',
  'expected',
  'outcome',
  'mechanism',
  'detected',
  'confidence',
  'startedAt',
  'durationMs',
] as const;

const signatureHead = ['cve', 'cwe', 'cvss', 'cvssVector', 'epss', 'kev', 'remediation'];

const signatureFields = ({ signature, weakness }: ShownAttempt): readonly unknown[] => {
  if (signature === undefined) return signatureHead.map((name) => (name === 'cwe' ? weakness?.cweIDs.join(' ') : ''));
  const { cveIDs, cweIDs, cvssScore, cvssVector, epssScore, kev, remediation } = signature;
  return [cveIDs.join(' '), cweIDs.join(' '), cvssScore, cvssVector, epssScore, kev, remediation];
};

/** One line for each attempt. */
const attemptsCsv = ({ attempts }: SecurityReport): string => {
  const own = ['techniques', 'status', 'clientEnd', 'serverSeen', 'sentBytes', 'reason'];
  const sent = ['encoder', 'position', 'payload', 'changes', 'curl', 'ja4', 'owasp'];
  const head = line([...attemptMembers, ...own, ...signatureHead, ...sent]);
  const rows = attempts.map((attempt) =>
    line([
      ...attemptMembers.map((member) => attempt[member]),
      attempt.techniques.join(' '),
      ...[attempt.client.status, attempt.client.end, attempt.server.seen, attempt.client.sentBytes, attempt.reason],
      ...signatureFields(attempt),
      ...(attempt.kind === 'waf' ? attempt.variant.split('/').slice(0, 2) : ['', '']),
      ...[attempt.payload, attempt.changes.join('; '), attempt.curl, attempt.client.tls?.ja4 ?? ''],
      attempt.weakness?.owasp.join(' ') ?? '',
    ]),
  );
  return head + rows.join('');
};

/**
 * One line for each metric of each entry and side, as RFC 4180 has it; of a security test for each attempt, of trials by
 * RFC 2544 for each result, of a search for each trial.
 */
export const csvReport = ({ run, security }: ReportData): string => {
  if (security !== null) return attemptsCsv(security);
  if (run.rfc2544 !== undefined) return [rfc2544Head, ...rfc2544Lines(run.id, run.rfc2544)].map(line).join('');
  if (run.goals !== undefined) return goalLines(run.id, run.goals).map(line).join('');
  const head = line(['run', 'entry', 'plugin', 'role', 'window', 'seconds', 'metric', 'unit', 'type', ...members]);
  const rows = run.summary.flatMap(({ configurationIndex, plugin, role, window, seconds, metrics }) =>
    metrics.map((metric) =>
      line([
        ...[run.id, configurationIndex, plugin, role, window, seconds],
        ...[metric.metric, metric.unit, metric.type, ...valuesOf(metric)],
      ]),
    ),
  );
  return head + rows.join('');
};

/** The rows of a table of a run; every cell that occurs in one of the first rows is a column. */
export const tableCsv = (columns: readonly string[], rows: readonly RunTableRow[], isFirst: boolean): string => {
  const head = isFirst ? line(['agent', 'job', 'index', 'state', ...columns]) : '';
  const lines = rows.map(({ agentID, job, index, state, cells }) =>
    line([agentID, job, index, state, ...columns.map((name) => cells[name])]),
  );
  return head + lines.join('');
};
