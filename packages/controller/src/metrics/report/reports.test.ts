import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { csvReport } from './csv-report.ts';
import { htmlReport } from './html-report.ts';
import { jsonParts } from './json-report.ts';
import { junitReport } from './junit-report.ts';
import { NoBrowser, printPdf } from './pdf-report.ts';
import { chartOf, type ReportData } from './report-data.ts';

const hostile = `<script>alert("x")</script> & 'quoted' =1+1`;

const data = (changes: Partial<ReportData['run']> = {}): ReportData => ({
  title: hostile,
  generatedAt: '2026-11-15T00:00:10.000Z',
  isPartial: false,
  run: {
    id: 4,
    taskID: 2,
    number: 3,
    status: 7,
    statusHistory: [],
    stopReason: 'duration',
    verdict: 2,
    validity: { valid: false, reasons: ['the generator was the limit'] },
    health: 'ok',
    comment: '',
    labels: { build: hostile },
    startedBy: null,
    queuedAt: '2026-11-15T00:00:00.000Z',
    startedAt: '2026-11-15T00:00:01.000Z',
    finishedAt: '2026-11-15T00:00:09.000Z',
    durationSec: 8,
    agents: [],
    definitionHash: 'abc',
    pinned: false,
    expiresAt: null,
    error: '',
    configSnapshot: { comment: hostile },
    summary: [
      {
        configurationIndex: 0,
        pluginID: 1,
        plugin: 'http',
        role: 'client',
        window: 'steady',
        seconds: 8,
        metrics: [
          { metric: 'http.requests', unit: 'count', type: 'counter', sum: 8000, rate: 1000 },
          { metric: 'http.latency', unit: 'us', type: 'histogram', p50: 210, p95: 900, p99: 12_300, max: 2_000_000 },
        ],
      },
    ],
    thresholds: [
      {
        ...{ name: hostile, metric: 'http.latency', aggregation: 'p99', operator: '<', value: 1000 },
        ...{ actual: 12_300, outcome: 'failed', breachedAt: null },
      },
    ],
    ...changes,
  },
  agents: [],
  events: [],
  security: null,
  charts: [chartOf('Load', '/s', [['reached', seriesOf([1000, null, 990])]])],
});

const seriesOf = (values: (number | null)[]) => ({
  step: 1,
  t: values.map((_, i) => i * 1000),
  series: [{ metric: 'achievedLoad', labels: {}, values }],
});

describe('the HTML report', () => {
  it('shows readable numbers and the reasons why they may be unreliable', () => {
    const html = htmlReport(data());
    for (const text of ['8 k', '1 k/s', '210 µs', '12.3 ms', '2.00 s', 'the generator was the limit', '<svg']) {
      expect(html).toContain(text);
    }
  });

  it('loads nothing from elsewhere and executes no user input', () => {
    const html = htmlReport(data());
    expect(html).not.toMatch(/<script|src=|href=|@import|url\(/);
    expect(html).toContain('&#60;script&#62;');
  });

  it('leaves a gap where there is no data', () => {
    const [path = ''] = /<path d="[^"]*"/.exec(htmlReport(data())) ?? [];
    expect(path.match(/M/g)).toHaveLength(2);
  });

  it('has the tables of RFC 9411 over all of its tests', () => {
    const kpi = (avg: number) => ({ name: 'Time to first byte', unit: 'us', min: 90, avg, max: 9000 });
    const test = {
      ...{ configurationIndex: 0, isDone: true, isLowerBound: false, limit: 'path' as const },
      ...{ sustainSec: 300, maxFailedPct: 0.001, initialKpis: [kpi(150)], kpis: [kpi(2500)] },
    };
    const throughput = { section: '7.3', title: 'HTTP throughput', objectBytes: 65_536, metric: 'throughputBps' };
    const opened = { section: '7.5', title: 'Concurrent', objectBytes: null, metric: 'concurrentSessions' };
    const rfc9411 = [
      { ...test, ...throughput, initial: 1e8, target: 1e10, result: 2.5e9 },
      { ...test, ...opened, initial: 100, target: 500, result: 500, isLowerBound: true, limit: 'max' as const },
    ];
    const html = htmlReport(data({ rfc9411 }), ['rfc9411']);
    expect(html).toContain(
      '<td>7.3</td><td>HTTP throughput</td><td>65,536 bytes</td><td class="n">100 Mbit/s</td><td class="n">10 Gbit/s</td><td class="n">2.50 Gbit/s</td>',
    );
    expect(html).toContain('<td class="n">≥ 500</td><td class="n">the target (lower bound)</td>');
    expect(html).toContain(
      '<td>7.3</td><td>Time to first byte</td><td class="n">150 µs</td><td class="n">90 µs</td><td class="n">2.50 ms</td><td class="n">9.00 ms</td>',
    );
    expect(html).toContain('Sustain phase: 300 s. Allowed to fail: 0.001 %');
    expect(htmlReport(data())).not.toContain('RFC 9411');
  });

  it('holds the sections that were asked for', () => {
    const html = htmlReport(data(), ['thresholds']);
    expect(html).toContain('<h2>Thresholds</h2>');
    expect(html).not.toContain('<h2>Metrics</h2>');
  });
});

it('the CSV report has a line for each metric and no formula', () => {
  const lines = csvReport(data({ comment: hostile })).split('\r\n');
  expect(lines).toHaveLength(4);
  expect(lines[1]).toBe('4,0,http,client,steady,8,http.requests,count,counter,8000,1000,,,,,,,,,,');
});

it('the JSON report is written in parts, between which others are answered', async () => {
  const agent = {
    state: 'ended',
    notes: [hostile, null],
    nothing: undefined,
    cpuMaxPct: 1.5,
    metrics: [{ sum: 8000 }],
  };
  const agents = Array.from({ length: 1000 }, (_, id) => ({ id, ...agent }));
  let answered = 0;
  let isWriting = true;
  const others = () => {
    answered += 1;
    if (isWriting) setImmediate(others);
  };
  setImmediate(others);
  for (const value of [{ ...data(), agents }, data(), { nothing: undefined }, { a: [], b: {}, c: null, d: [[1]] }]) {
    const parts: string[] = [];
    for await (const part of jsonParts(value)) parts.push(part);
    expect(JSON.parse(parts.join(''))).toEqual(JSON.parse(JSON.stringify(value)));
  }
  isWriting = false;
  expect(answered).toBeGreaterThanOrEqual(agents.length / 25);
});

describe('the JUnit report', () => {
  it('is well-formed whatever names hold, and counts what failed', () => {
    const xml = junitReport(data({ error: '\u0000\ud800 broken' }));
    const checked = execFileSync(
      'python3',
      [
        '-c',
        'import sys,xml.dom.minidom as m; d=m.parseString(sys.stdin.buffer.read()); s=d.getElementsByTagName("testsuite")[0]; print(s.getAttribute("tests"), s.getAttribute("failures"))',
      ],
      { input: xml, encoding: 'utf8' },
    );
    expect(checked.trim()).toBe('3 2');
  });

  it('passes when everything held', () => {
    const xml = junitReport(data({ validity: { valid: true, reasons: [] }, thresholds: [] }));
    expect(xml).toContain('tests="2" failures="0"');
  });
});

describe('the PDF report', () => {
  it('is printed by a browser', async () => {
    const pdf = await printPdf(htmlReport(data()));
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(pdf.length).toBeGreaterThan(5000);
  });

  it('needs one', async () => {
    await expect(printPdf('', undefined, ['no-such-browser'])).rejects.toThrow(NoBrowser);
  });

  it('is printed by two browsers at most, others wait, and those whose client went away are left out', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rushhour-browser-'));
    const [program, log] = [join(folder, 'browser'), join(folder, 'log')];
    const script = `#!/bin/sh
for option in "$@"; do case "$option" in --print-to-pdf=*) output="\${option#*=}" ;; esac; done
echo + >> ${log}; sleep 0.3; echo - >> ${log}; echo pdf > "$output"
`;
    writeFileSync(program, script, { mode: 0o700 });
    const gone = new AbortController();
    const printed = [1, 2, 3, 4].map(() => printPdf('', undefined, [program]));
    const left = printPdf('', gone.signal, [program]);
    gone.abort();
    await expect(left).rejects.toThrow();
    expect((await Promise.all(printed)).map(String)).toEqual(Array(4).fill('pdf\n'));
    const steps = readFileSync(log, 'utf8').trim().split('\n');
    rmSync(folder, { recursive: true });
    expect(steps.filter((step) => step === '+')).toHaveLength(4);
    const concurrent = steps.map((_, at) =>
      steps.slice(0, at + 1).reduce((sum, step) => sum + (step === '+' ? 1 : -1), 0),
    );
    expect(Math.max(...concurrent)).toBe(2);
  });
});
