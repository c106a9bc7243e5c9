import type { Executor } from '../engine/database.ts';
import type { SecretLocation, Secrets } from '../engine/secrets.ts';
import { type RunRow, runRowPage } from './run-rows.ts';

/** What keys are of: IKE, ESP, or sessions of TLS and QUIC. */
export type KeyKind = 'ike' | 'esp' | 'tls';

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

/** Keys of an agent in a run, as lines of the file of this kind that Wireshark reads. */
export const keyLinesOf = async (
  read: Executor,
  secrets: Secrets,
  { runID, agentID, kind }: { readonly runID: number; readonly agentID: number; readonly kind: KeyKind },
): Promise<string[]> => {
  const all = { tableName: 'keys', search: '', limit: Number.MAX_SAFE_INTEGER, offset: 0 } as const;
  const { rows } = await runRowPage(read, { ...all, runID, agentID, state: kind });
  return rows.map((row) => secrets.open(String(row.cells['line']), locationOf(row)));
};
