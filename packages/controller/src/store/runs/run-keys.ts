import type { Executor } from '../engine/database.ts';
import type { SecretLocation, Secrets } from '../engine/secrets.ts';
import { type RunRow, runRowPage } from './run-rows.ts';

type KeyRow = Pick<RunRow, 'runID' | 'agentID' | 'orderIndex' | 'rowIndex'>;

const locationOf = ({ runID, agentID, orderIndex, rowIndex }: KeyRow): SecretLocation => ({
  table: 'runRows',
  id: [runID, agentID, orderIndex, rowIndex].join('-'),
  column: 'cells',
});

/** Keys of packets are stored sealed; other rows stay as they are. */
export const sealKeyRows = (secrets: Secrets, rows: readonly RunRow[]): readonly RunRow[] =>
  rows.map((row) =>
    row.tableName === 'keys'
      ? { ...row, cells: { line: secrets.seal(String(row.cells['line'] ?? ''), locationOf(row)) } }
      : row,
  );

/** Keys of an agent in a run, as lines of Wireshark's table of this kind. */
export const keyLinesOf = async (
  read: Executor,
  secrets: Secrets,
  { runID, agentID, kind }: { readonly runID: number; readonly agentID: number; readonly kind: 'ike' | 'esp' },
): Promise<string[]> => {
  const all = { tableName: 'keys', search: '', limit: Number.MAX_SAFE_INTEGER, offset: 0 } as const;
  const { rows } = await runRowPage(read, { ...all, runID, agentID, state: kind });
  return rows.map((row) => secrets.open(String(row.cells['line']), locationOf(row)));
};
