import type { Executor } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';

export const agentTokens = createTable('agentTokens', { search: ['name', 'tags'] });

const use = statement((db, p: { hash: string; now: string }) =>
  db
    .updateTable('agentTokens')
    .set((eb) => ({ usesLeft: eb('usesLeft', '-', 1) }))
    .where('hash', '=', p.hash)
    .where('usesLeft', '>', 0)
    .where('expiresAt', '>', p.now)
    .returning(['id', 'tags', 'issuerID']),
);
const find = statement((db, p: { hash: string }) =>
  db.selectFrom('agentTokens').select(['usesLeft', 'expiresAt']).where('hash', '=', p.hash),
);

/** Uses a token once, if it has a use left; two agents cannot both take the last one. */
export const takeToken = (tx: Executor, hash: string, now: string) => use.first(tx, { hash, now });

export const findToken = (executor: Executor, hash: string) => find.first(executor, { hash });
