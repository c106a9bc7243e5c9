import { createTable, type Migrating } from './create-table.ts';

/** Rows of the tables of runs: sessions, neighbours, security associations. */
export const runRows = async (m: Migrating) => {
  await createTable(m, 'runRows', {
    runID: 'integer>runs.id',
    tableName: 'text',
    agentID: 'integer',
    orderIndex: 'integer',
    rowIndex: 'integer',
    state: 'text',
    cells: 'text',
  });
  await m.raw(
    'CREATE UNIQUE INDEX "runRows_key_unique" ON "runRows" ("runID", "tableName", "agentID", "orderIndex", "rowIndex")',
  );
};
