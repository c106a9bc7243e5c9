import { createTable, type Migrating } from './create-table.ts';

/** Which controller takes in what an agent measures. */
export const agentHomes = (m: Migrating) => createTable(m, 'agentHomes', { agentID: 'integer!', controller: 'text' });
