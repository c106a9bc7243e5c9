import type { Change } from '../engine/change.ts';
import type { Executor } from '../engine/database.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import type { Tables } from '../tables/index.ts';

export const sessionsPerBlock = 500;

/** What an analysis found, as JSON texts: the facts without sessions, and the sessions in blocks. */
export interface CaptureFacts {
  readonly info: string;
  readonly blocks: readonly string[];
}

const insertFacts = statement((db, _: Tables['captures']) => db.insertInto('captures').values(everyColumn('captures')));
const insertBlock = statement((db, _: Tables['captureSessions']) =>
  db.insertInto('captureSessions').values(everyColumn('captureSessions')),
);
const selectInfo = statement((db, p: { sha256: string }) =>
  db.selectFrom('captures').select('info').where('sha256', '=', p.sha256),
);
const selectBlock = statement((db, p: { sha256: string; block: number }) =>
  db.selectFrom('captureSessions').select('sessions').where('sha256', '=', p.sha256).where('block', '=', p.block),
);
const dropFacts = statement((db, p: { sha256: string }) => db.deleteFrom('captures').where('sha256', '=', p.sha256));
const dropBlocks = statement((db, p: { sha256: string }) =>
  db.deleteFrom('captureSessions').where('sha256', '=', p.sha256),
);

export const findCapture = async (executor: Executor, sha256: string): Promise<string | undefined> =>
  (await selectInfo.first(executor, { sha256 }))?.info;

/** Stores the result of an analysis unless it is known: equal contents have equal sessions. */
export const keepCapture = async (tx: Change, sha256: string, { info, blocks }: CaptureFacts) => {
  if ((await findCapture(tx, sha256)) !== undefined) return;
  await insertFacts.all(tx, { sha256, info });
  for (const [block, sessions] of blocks.entries()) await insertBlock.all(tx, { sha256, block, sessions });
};

export const dropCapture = async (tx: Change, sha256: string) => {
  await dropBlocks.all(tx, { sha256 });
  await dropFacts.all(tx, { sha256 });
};

/** Sessions by index, in the requested order; missing ones are left out. */
export const readSessions = async <Session>(
  executor: Executor,
  sha256: string,
  indexes: readonly number[],
): Promise<Session[]> => {
  const blocks = new Map<number, Session[]>();
  for (const block of new Set(indexes.map((index) => Math.floor(index / sessionsPerBlock)))) {
    const row = await selectBlock.first(executor, { sha256, block });
    if (row) blocks.set(block, JSON.parse(row.sessions) as Session[]);
  }
  return indexes.flatMap((index) => blocks.get(Math.floor(index / sessionsPerBlock))?.[index % sessionsPerBlock] ?? []);
};
