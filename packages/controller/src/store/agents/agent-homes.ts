import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';

const claim = statement((db, p: { agentIDs: string; controller: string }) =>
  db
    .insertInto('agentHomes')
    .columns(['agentID', 'controller'])
    .expression(
      // In the same order at all times, so that controllers never wait for each other in a circle.
      sql<never>`select value::bigint, ${p.controller}::text from json_array_elements_text(${p.agentIDs}::json) order by 1` as never,
    )
    .onConflict((conflict) => conflict.column('agentID').doUpdateSet({ controller: p.controller })),
);
/** From now on this controller takes in what the agents measure; waits until others have stored what they were storing. */
export const claimAgents = (tx: Executor, agentIds: readonly number[], controller: string) =>
  claim.all(tx, { agentIDs: JSON.stringify(agentIds), controller });

const held = statement((db, p: { agentIDs: string; controller: string }, engine) =>
  db
    .selectFrom('agentHomes')
    .select('agentID')
    .where(inList('agentID', p.agentIDs, engine))
    .where('controller', '=', p.controller)
    .orderBy('agentID')
    .forShare(),
);
/** Those of the agents that no other controller has claimed; none does until the transaction ends. */
export const lockAgents = async (tx: Executor, agentIds: readonly number[], controller: string): Promise<number[]> =>
  (await held.all(tx, { agentIDs: JSON.stringify(agentIds), controller })).map(({ agentID }) => agentID);
