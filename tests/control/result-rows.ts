import type { ResultRow, RowsRecord } from '@rushhour/protocol';
import type { Totals } from '../engines/job.ts';

/** The newest rows of a table. */
export const rowsOf = ({ summaries }: Totals, table: string): ResultRow[] => {
  const records = summaries.flatMap(({ records = [] }) => records as RowsRecord[]);
  const rows = records.filter((record) => record.side === 'rows' && record.table === table).flatMap((one) => one.rows);
  return [...new Map(rows.map((row) => [row.index, row])).values()];
};
