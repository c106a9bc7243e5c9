import { createIndex, createTable, type Migrating } from './create-table.ts';

/** Packet dumps of runs, and captures that were changed while they ran. */
export const runDumps = async (m: Migrating) => {
  await m.raw(`ALTER TABLE "runs" ADD COLUMN "capture" text NOT NULL DEFAULT '{}'`);
  await createTable(m, 'runDumps', {
    id: 'id',
    runID: 'integer',
    epoch: 'integer',
    agentID: 'integer',
    name: 'text',
    interface: 'text',
    state: 'text',
    size: 'integer',
    packets: 'integer',
    drops: 'integer',
    truncated: 'integer',
    sha256: 'text',
    firstAt: 'text?',
    lastAt: 'text?',
    problem: 'text',
    createdAt: 'text',
    updatedAt: 'text',
  });
  await m.raw('CREATE UNIQUE INDEX "runDumps_name_unique" ON "runDumps" ("runID", "epoch", "agentID", "name")');
  await createIndex(m, 'runDumps', 'sha256');
  await createIndex(m, 'runDumps', 'state');
};
