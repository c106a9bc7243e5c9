import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import type { Tables } from '../tables/index.ts';

export type FileOnAgent = Tables['agentFiles'];

const put = statement((db, p: FileOnAgent) =>
  db
    .insertInto('agentFiles')
    .values(everyColumn('agentFiles'))
    .onConflict((c) =>
      c
        .columns(['agentID', 'sha256'])
        .doUpdateSet({ state: p.state, bytes: p.bytes, error: p.error, updatedAt: p.updatedAt }),
    ),
);
const ofFile = statement((db, p: { sha256: string }) =>
  db
    .selectFrom('agents')
    .leftJoin('agentFiles', (join) =>
      join.onRef('agentFiles.agentID', '=', 'agents.id').on('agentFiles.sha256', '=', p.sha256),
    )
    .select(['agents.id', 'agents.name', 'agentFiles.state', 'agentFiles.bytes', 'agentFiles.error'])
    .select('agentFiles.updatedAt as fileUpdatedAt')
    .where('agents.deletedAt', 'is', null)
    .orderBy('agents.id'),
);
const waiting = statement((db, p: { agentID: number }) =>
  db.selectFrom('agentFiles').selectAll().where('agentID', '=', p.agentID).where('state', 'in', ['pending', 'syncing']),
);
const remove = statement((db, p: { ids: string }, engine) =>
  db.deleteFrom('agentFiles').where(inList('agentID', p.ids, engine)),
);
const known = statement((db, _: object) =>
  db.selectFrom('agents').select('id').where('deletedAt', 'is', null).orderBy('id'),
);

export const keepFileState = (tx: Executor, row: FileOnAgent) => put.all(tx, row);
/** Every agent with its state of the file; null where it has none. */
export const agentsWithFile = (executor: Executor, sha256: string) => ofFile.all(executor, { sha256 });
/** Files assigned to an agent that it has not received. */
export const filesOwedTo = (executor: Executor, agentID: number) => waiting.all(executor, { agentID });
export const forgetFilesOf = (tx: Executor, agentIds: readonly number[]) =>
  remove.all(tx, { ids: JSON.stringify(agentIds) });
export const everyAgentId = async (executor: Executor) => (await known.all(executor, {})).map(({ id }) => id);
