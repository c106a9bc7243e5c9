import type { ResultRow, RowsRecord } from '@rushhour/protocol';
import type { Totals } from '../engines/job.ts';
import type { JobProcess } from '../engines/namespaces.ts';

/** The newest rows of a table. */
export const rowsOf = ({ summaries }: Pick<Totals, 'summaries'>, table: string): ResultRow[] => {
  const records = summaries.flatMap(({ records = [] }) => records as RowsRecord[]);
  const rows = records.filter((record) => record.side === 'rows' && record.table === table).flatMap((one) => one.rows);
  return [...new Map(rows.map((row) => [row.index, row])).values()];
};

/** Rows of `routes` that routers have while they run: those of the last time they were asked, and asks again. */
export const listedRoutes = (job: JobProcess): ResultRow[] => {
  job.command({ action: 'list' });
  return rowsOf(job, 'routes').filter(({ state }) => state !== 'gone');
};
