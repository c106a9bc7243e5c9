import type { EngineAbility } from '@rushhour/protocol';
import type { Executor } from './database.ts';
import { statement } from './statement.ts';

const all = statement((db, _: object) =>
  db.selectFrom('agents').select(['id', 'engines']).where('deletedAt', 'is', null),
);
const one = statement((db, p: { id: number }) =>
  db.selectFrom('agents').select(['id', 'engines']).where('deletedAt', 'is', null).where('id', '=', p.id),
);

/** What the engines of the agents can do: of all that are enrolled, or of one; undefined when there is no such agent. */
export const engineAbilities = async (
  executor: Executor,
  agentID: number | undefined,
): Promise<EngineAbility[][] | undefined> => {
  const rows = agentID === undefined ? await all.all(executor, {}) : await one.all(executor, { id: agentID });
  if (agentID !== undefined && rows.length === 0) return undefined;
  return rows.map(({ engines }) => JSON.parse(engines) as EngineAbility[]);
};
