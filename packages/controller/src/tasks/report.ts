import { Readable } from 'node:stream';
import { type api, isTerminal, type RunTable, runTables } from '@rushhour/contract';
import { conflict, invalid, notFound, orNotFound, unavailable } from '../errors.ts';
import type { Download, Handlers } from '../handler.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { csvReport, tableCsv } from '../metrics/report/csv-report.ts';
import { htmlReport, type ReportSection, reportSections } from '../metrics/report/html-report.ts';
import { jsonReport } from '../metrics/report/json-report.ts';
import { junitReport } from '../metrics/report/junit-report.ts';
import { NoBrowser, printPdf } from '../metrics/report/pdf-report.ts';
import type { ReportData } from '../metrics/report/report-data.ts';
import type { Executor } from '../store/engine/database.ts';
import { runRowPage } from '../store/runs/run-rows.ts';
import { runs as runTable } from '../store/runs/runs.ts';
import type { Store } from '../store/store.ts';
import { findTask } from '../store/tasks/tasks.ts';
import { readReportData } from './results/report-data.ts';
import { tableRowsOf } from './results/run-agents.ts';

interface Deps {
  store: Store;
  metrics: Metrics;
}

type Format = 'html' | 'pdf' | 'csv' | 'json' | 'junit';

const extensions: Record<Format, string> = { html: 'html', pdf: 'pdf', csv: 'csv', json: 'json', junit: 'xml' };

/** The report of a run in every form. */
export const reportHandlers = ({ store, metrics }: Deps): Pick<Handlers<typeof api.tasks>, 'report'> => ({
  report: async ({ params: { id, runId }, query: { format = 'html', sections } }, caller) => {
    const table = format === 'csv' ? runTables.find((name) => name === sections) : undefined;
    const wanted = table === undefined ? sectionsOf(sections) : [];
    const task = await orNotFound(findTask(store.read, id), 'task', id);
    const run = await runTable.find(store.read, runId);
    if (run === undefined || run.taskID !== id) throw notFound('run', runId);
    const name = `rushhour-task-${id}-run-${run.number}${table ? `-${table}` : ''}.${extensions[format]}`;
    if (table !== undefined) return tableDownload(store.read, { run, table, name });
    if (!isTerminal(run.status) && format !== 'json') {
      throw conflict('RUN_ACTIVE', `run ${runId} is active: only the JSON report is available before it ends`);
    }
    const data = await readReportData({ read: store.read, metrics }, task.comment, run, {
      isBrief: format === 'junit',
    });
    const answer = await writers[format](data, wanted, caller.signal);
    const how = format === 'html' ? 'inline' : 'attachment';
    return { ...answer, headers: { ...answer.headers, 'content-disposition': `${how}; filename="${name}"` } };
  },
});

interface TableRequest {
  readonly run: { readonly id: number; readonly finishedAt: string | null };
  readonly table: RunTable;
  readonly name: string;
}

const tableDownload = (read: Executor, { run, table, name }: TableRequest): Download => ({
  type: 'text/csv; charset=utf-8',
  body: Readable.from(tableParts(read, run, table), { objectMode: false }),
  headers: { 'content-disposition': `attachment; filename="${name}"` },
});

const rowsPerPart = 5000;

/** The table in parts; cells of the first part are the columns. */
async function* tableParts(read: Executor, run: TableRequest['run'], tableName: RunTable) {
  const all = { runID: run.id, tableName, agentID: 0, state: '', search: '', limit: rowsPerPart };
  let columns: string[] | undefined;
  for (let offset = 0; ; offset += rowsPerPart) {
    const { rows } = await runRowPage(read, { ...all, offset });
    columns ??= [...new Set(rows.flatMap(({ cells }) => Object.keys(cells)))];
    yield tableCsv(columns, tableRowsOf(rows, run), offset === 0);
    if (rows.length < rowsPerPart) return;
  }
}

const sectionsOf = (text: string | undefined): readonly ReportSection[] => {
  if (text === undefined) return reportSections;
  const names = text.split(',');
  const unknown = names.filter((name) => !(reportSections as readonly string[]).includes(name));
  if (unknown.length > 0) {
    const message = `knows no ${unknown.join(', ')}; there are ${reportSections.join(', ')}`;
    throw invalid([{ path: '/sections', in: 'query', code: 'UNKNOWN_SECTION', message }]);
  }
  return names as ReportSection[];
};

type Writer = (
  data: ReportData,
  sections: readonly ReportSection[],
  signal: AbortSignal,
) => Download | Promise<Download>;

const writers: Record<Format, Writer> = {
  html: (data, sections) => ({
    type: 'text/html; charset=utf-8',
    body: htmlReport(data, sections),
    // The report contains texts of users and agents; none of them may execute.
    headers: { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-popups" },
  }),
  csv: (data) => ({ type: 'text/csv; charset=utf-8', body: csvReport(data) }),
  json: (data) => ({ type: 'application/json; charset=utf-8', body: jsonReport(data) }),
  junit: (data) => ({ type: 'application/xml; charset=utf-8', body: junitReport(data) }),
  pdf: async (data, sections, signal) => {
    const body = await printPdf(htmlReport(data, sections), signal).catch((error) => {
      if (signal.aborted) throw unavailable('ABORTED', 'the client went away');
      if (!(error instanceof NoBrowser)) throw error;
      const message = 'a PDF is printed by Chromium, and this machine has none: install chromium';
      throw conflict('PDF_UNAVAILABLE', message, { missing: ['chromium'] });
    });
    return { type: 'application/pdf', body };
  },
};
