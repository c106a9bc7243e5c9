import {
  conditionText,
  type MetricValue,
  type Rfc2544Result,
  type RunSummary,
  statusNames,
  verdictNames,
} from '@rushhour/contract';
import type { SecurityReport } from '../../security/verdicts/security-report.ts';
import { goalSection } from './goal-section.ts';
import type { ReportData } from './report-data.ts';
import { cell, escaped, numberText, table } from './report-text.ts';
import { rfc9411Section } from './rfc9411-section.ts';
import { securitySection } from './security-section.ts';
import { svgChart } from './svg-chart.ts';

const limits: Readonly<Record<NonNullable<Rfc2544Result['throughput']>['limit'], string>> = {
  path: 'the path',
  line: 'the line',
  ordered: 'the configured rate; the path may carry more',
  generator: 'the sender; the path may carry more',
  receiver: 'the receiver; the path may carry more',
};

const numbers = (...texts: string[]) => texts.map((text) => cell(text, 'n')).join('');
const perSecond = (value: number) => Math.round(value).toLocaleString('en');

const throughputOf = (rows: readonly Rfc2544Result[]) =>
  rows.flatMap(({ frameSize, throughput }) => {
    if (throughput === undefined) return [];
    const { fps, bps, linePct, trials, limit } = throughput;
    const found = numbers(String(frameSize), perSecond(fps), (bps / 1e6).toFixed(3), numberText(linePct, '%'));
    return [`<tr>${found}${numbers(String(trials))}${cell(limits[limit])}</tr>`];
  });

const latencyOf = (rows: readonly Rfc2544Result[]) =>
  rows.flatMap(({ frameSize, latency }) => {
    if (latency === undefined) return [];
    const times = [latency.minUs, latency.avgUs, latency.p50Us, latency.p99Us, latency.maxUs];
    const texts = times.map((time) => numberText(time, 'us'));
    return [`<tr>${numbers(String(frameSize), perSecond(latency.offeredFps), ...texts)}</tr>`];
  });

const lossOf = (rows: readonly Rfc2544Result[]) =>
  rows.flatMap(({ frameSize, frameLoss }) =>
    frameLoss.map(({ ratePct, offeredFps, sent, received, lossPct }) => {
      const counts = [sent, received].map((count) => count.toLocaleString('en'));
      return `<tr>${numbers(String(frameSize), `${ratePct} %`, perSecond(offeredFps), ...counts, `${lossPct.toFixed(3)} %`)}</tr>`;
    }),
  );

const burstsOf = (rows: readonly Rfc2544Result[]) =>
  rows.flatMap(({ frameSize, backToBack }) => {
    if (backToBack === undefined) return [];
    const { frames, burstFps, repeats, isLongest } = backToBack;
    const burst = `${isLongest ? 'at least ' : ''}${perSecond(frames)}`;
    return [`<tr>${numbers(String(frameSize), burst, perSecond(burstFps), String(repeats))}</tr>`];
  });

/** The tables of RFC 2544; tests that did not run have none. */
export const rfc2544Section = (rows: readonly Rfc2544Result[]): string => {
  const parts = [
    ['Throughput', ['Frame size', 'Frames/s', 'Mbit/s', '% of line rate', 'Trials', 'Limited by'], throughputOf(rows)],
    ['Latency', ['Frame size', 'Frames/s', 'Min', 'Average', 'p50', 'p99', 'Max'], latencyOf(rows)],
    ['Frame loss', ['Frame size', 'Rate', 'Frames/s', 'Sent', 'Received', 'Lost'], lossOf(rows)],
    ['Back-to-back frames', ['Frame size', 'Longest burst', 'Frames/s', 'Repeats'], burstsOf(rows)],
  ] as const;
  const shown = parts.filter(([, , lines]) => lines.length > 0);
  if (shown.length === 0) return '<p>No trials</p>';
  return shown.map(([title, head, lines]) => `<h3>${title}</h3>${table(head, lines)}`).join('');
};

const maxLetters = 2000;

/** Findings of fuzzing; empty if there are none. */
export const findingsSection = ({ findings }: SecurityReport): string => {
  if (findings.length === 0) return '';
  const rows = findings.map(({ at, kind, name, target, detail, reproducer, count }) => {
    const cells = [at, kind, name, String(count), target, detail].map((text) => cell(text)).join('');
    const input = reproducer === undefined ? '–' : JSON.stringify(reproducer).slice(0, maxLetters);
    return `<tr>${cells}<td><pre>${escaped(input)}</pre></td></tr>`;
  });
  return `<h3>Findings</h3>${table(['Time', 'Kind', 'Case', 'Cases', 'Target', 'Finding', 'Reproducer'], rows)}`;
};

export const reportSections = [
  'summary',
  'thresholds',
  'security',
  'rfc2544',
  'rfc9411',
  'goals',
  'charts',
  'metrics',
  'agents',
  'events',
  'configuration',
] as const;
export type ReportSection = (typeof reportSections)[number];

const section = (title: string, body: string) => `<section><h2>${escaped(title)}</h2>${body}</section>`;

const style = `
:root{color-scheme:light;font:14px/1.5 system-ui,sans-serif;color:#212529}
body{max-width:920px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem;border-bottom:1px solid #dee2e6}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #f1f3f5;vertical-align:top}
td.n{text-align:right;white-space:nowrap}
.badge{display:inline-block;padding:.1rem .6rem;border-radius:1rem;color:#fff;font-weight:600;background:#868e96}
.passed,.finished{background:#2b8a3e}.failed{background:#c92a2a}.inconclusive,.stopped{background:#e67700}
figure{margin:1rem 0;break-inside:avoid}figcaption{font-weight:600}
svg{width:100%;height:auto}svg text{font-size:11px;fill:#495057}.grid{stroke:#e9ecef}
.legend span{margin-right:1rem}.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.3em;border-radius:2px}
.warn{background:#fff3bf;padding:.6rem 1rem;border-radius:6px}
pre{background:#f8f9fa;padding:1rem;overflow:auto;font-size:12px;white-space:pre-wrap;overflow-wrap:anywhere}
footer{margin-top:3rem;color:#868e96;font-size:12px}
@media print{body{margin:0;max-width:none}section{break-inside:auto}tr{break-inside:avoid}}`;

const valueCells = ({ type, unit, sum, rate, last, avg, p50, p95, p99, max }: MetricValue): string => {
  const text = (value: number | null | undefined) => numberText(value, unit);
  if (type === 'counter')
    return [text(sum), `${text(rate)}/s`, '', '', '', ''].map((value) => cell(value, 'n')).join('');
  if (type === 'gauge') return ['', '', text(last ?? avg), '', '', text(max)].map((value) => cell(value, 'n')).join('');
  return ['', '', text(p50), text(p95), text(p99), text(max)].map((value) => cell(value, 'n')).join('');
};

/** Counters at zero are left out here; the other report formats contain them. */
const isTelling = ({ type, sum, metric }: MetricValue) => type !== 'counter' || Boolean(sum) || metric === 'errors';

const metricsOf = (summary: RunSummary) =>
  summary
    .map(({ plugin, role, configurationIndex, seconds, window, metrics }) => {
      const head = ['Metric', 'Total', 'Rate', 'p50 / last', 'p95', 'p99', 'Max'];
      const rows = metrics.filter(isTelling).map((metric) => `<tr>${cell(metric.metric)}${valueCells(metric)}</tr>`);
      const title = `${configurationIndex + 1}. ${plugin}, ${role} · ${seconds.toFixed(0)} s (${window === 'steady' ? 'steady state' : 'whole run'})`;
      return `<h3>${escaped(title)}</h3>${table(head, rows)}`;
    })
    .join('');

const summaryOf = ({ run, isPartial }: ReportData) => {
  const verdict = verdictNames[run.verdict] ?? 'none';
  const status = statusNames[run.status] ?? String(run.status);
  const rows = [
    ['Verdict', `<span class="badge ${verdict}">${verdict}</span>`],
    ['Status', `<span class="badge ${status}">${status}</span> ${escaped(run.stopReason)}`],
    ['Started', escaped(run.startedAt ?? '–')],
    ['Ended', escaped(run.finishedAt ?? '–')],
    ['Duration', run.durationSec === null ? '–' : `${run.durationSec.toFixed(1)} s`],
    ['Started by', escaped(run.startedBy?.realName ?? '–')],
    ...Object.entries(run.labels).map(([name, value]) => [escaped(name), escaped(value)]),
  ].map(([name, value]) => `<tr><th>${name}</th><td>${value}</td></tr>`);
  const doubts = run.validity.valid
    ? '<p>No validity issues detected.</p>'
    : `<div class="warn"><strong>Results may be unreliable</strong><ul>${run.validity.reasons.map((reason) => `<li>${escaped(reason)}</li>`).join('')}</ul></div>`;
  const partial = isPartial ? '<p class="warn">The run has not ended; the results are preliminary.</p>' : '';
  const error = run.error === '' ? '' : `<p class="warn">${escaped(run.error)}</p>`;
  return `${partial}${error}<table><tbody>${rows.join('')}</tbody></table>${doubts}`;
};

const thresholdsOf = ({ run }: ReportData) => {
  if (run.thresholds.length === 0) return '<p>No thresholds</p>';
  const rows = run.thresholds.map(
    ({ name, actual, outcome, value, ...condition }) =>
      `<tr>${cell(name)}${cell(conditionText(condition, value))}${cell(actual ?? 'no data', 'n')}<td><span class="badge ${escaped(outcome)}">${escaped(outcome)}</span></td></tr>`,
  );
  return table(['Threshold', 'Condition', 'Actual', 'Result'], rows);
};

const agentsOf = ({ agents }: ReportData) =>
  table(
    ['Agent', 'Role', 'Engines', 'CPU max', 'Drops', 'Errors', 'Notes'],
    agents.map(
      ({ name, role, engines, cpuMaxPct, drops, errors, notes, error }) =>
        `<tr>${cell(name)}${cell(role)}${cell(engines.join(', '))}${cell(numberText(cpuMaxPct, '%'), 'n')}${cell(drops ?? '–', 'n')}${cell(errors, 'n')}${cell([...notes, error].filter(Boolean).join('; '))}</tr>`,
    ),
  );

const eventsOf = ({ events }: ReportData) =>
  table(
    ['Time', 'Event', 'Message'],
    events.map(({ ts, type, message }) => `<tr>${cell(ts)}${cell(type)}${cell(message)}</tr>`),
  );

const writers: Record<ReportSection, readonly [string, (data: ReportData) => string]> = {
  summary: ['Summary', summaryOf],
  thresholds: ['Thresholds', thresholdsOf],
  security: ['Security', ({ security }) => (security ? findingsSection(security) : '') + securitySection(security)],
  rfc2544: ['RFC 2544', ({ run }) => rfc2544Section(run.rfc2544 ?? [])],
  rfc9411: ['RFC 9411', ({ run }) => rfc9411Section(run.rfc9411 ?? [])],
  goals: ['Search for the limit', ({ run }) => goalSection(run.goals ?? [])],
  charts: [
    'Charts',
    ({ charts }) =>
      charts
        .filter(({ lines }) => lines.length > 0)
        .map(svgChart)
        .join('') || '<p>No data</p>',
  ],
  metrics: ['Metrics', ({ run }) => metricsOf(run.summary)],
  agents: ['Agents', agentsOf],
  events: ['Events', eventsOf],
  configuration: ['Configuration', ({ run }) => `<pre>${escaped(JSON.stringify(run.configSnapshot, null, 2))}</pre>`],
};

/** One file that needs nothing else: no script, no font, no picture from anywhere. */
export const htmlReport = (data: ReportData, wanted: readonly ReportSection[] = reportSections): string => {
  const body = wanted
    .filter((name) => name !== 'security' || data.security !== null)
    .filter((name) => name !== 'rfc2544' || data.run.rfc2544 !== undefined)
    .filter((name) => name !== 'rfc9411' || data.run.rfc9411 !== undefined)
    .filter((name) => name !== 'goals' || data.run.goals !== undefined)
    .map((name) => section(writers[name][0], writers[name][1](data)))
    .join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(data.title)}</title><style>${style}</style></head><body><header><h1>${escaped(data.title)}</h1><p>Run ${data.run.number} of task ${data.run.taskID}</p></header>${body}<footer>Rushhour · ${escaped(data.generatedAt)} · definition ${escaped(data.run.definitionHash)}</footer></body></html>`;
};
