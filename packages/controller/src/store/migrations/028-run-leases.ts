import { createTable, type Migrating } from './create-table.ts';

/** Which controller owns which run, and until when controllers are thought to be there. */
export const runLeases = async (m: Migrating) => {
  await createTable(m, 'controllers', { id: 'text!', leaseUntil: 'integer' });
  await createTable(m, 'runLeases', { runID: 'integer!', owner: 'text', fence: 'integer', agentIDs: 'text' });
};
