import { conflict } from '../../errors.ts';
import type { Tables } from '../tables/index.ts';
import type { Executor } from './database.ts';
import { inList } from './expressions.ts';
import { everyColumn, statement } from './statement.ts';

/** Kinds of records that use others or are used. */
export type Kind =
  | 'agent'
  | 'plugin'
  | 'task'
  | 'template'
  | 'application'
  | 'network'
  | 'mac'
  | 'tunnel'
  | 'certificate'
  | 'dictionary'
  | 'file'
  | 'signature'
  | 'campaign';

export interface Reference {
  kind: Kind;
  id: number;
  name: string;
}

const drop = statement((db, p: { kind: string; ids: string }, engine) =>
  db
    .deleteFrom('links')
    .where('fromKind', '=', p.kind)
    .where(inList('fromID', p.ids, engine)),
);
const insert = statement((db, _: Tables['links']) => db.insertInto('links').values(everyColumn('links')));
const users = statement((db, p: { kind: string; ids: string; limit: number }, engine) =>
  db
    .selectFrom('links')
    .select(['fromKind', 'fromID', 'fromName', 'toID'])
    .where('toKind', '=', p.kind)
    .where(inList('toID', p.ids, engine))
    .orderBy('fromKind')
    .orderBy('fromID')
    .limit(p.limit),
);

/** Replaces the links of a record. Call it with every write of the record, also when only its name changed. */
export const setLinks = async (tx: Executor, from: Reference, to: readonly { kind: Kind; id: number }[]) => {
  await drop.all(tx, { kind: from.kind, ids: JSON.stringify([from.id]) });
  const distinct = new Map(to.map((link) => [`${link.kind} ${link.id}`, link]));
  for (const { kind, id } of distinct.values()) {
    await insert.all(tx, { fromKind: from.kind, fromID: from.id, fromName: from.name, toKind: kind, toID: id });
  }
};

/** Deletes the links of deleted records. */
export const dropLinks = (tx: Executor, kind: Kind, ids: readonly number[]) =>
  drop.all(tx, { kind, ids: JSON.stringify(ids) });

const release = statement((db, p: { kind: string; ids: string }, engine) =>
  db
    .deleteFrom('links')
    .where('fromKind', '=', p.kind)
    .where('toKind', 'not in', ['agent', 'plugin'])
    .where(inList('fromID', p.ids, engine)),
);

/** Records marked deleted do not block the deletion of others; lists still find them by agent and plugin. */
export const releaseUsed = (tx: Executor, kind: Kind, ids: readonly number[]) =>
  release.all(tx, { kind, ids: JSON.stringify(ids) });

/** The records that use one of these. */
export const referencesTo = async (
  executor: Executor,
  kind: Kind,
  ids: readonly number[],
  limit = 100,
): Promise<(Reference & { usesID: number })[]> => {
  const rows = await users.all(executor, { kind, ids: JSON.stringify(ids), limit });
  return rows.map(({ fromKind, fromID, fromName, toID }) => ({
    kind: fromKind as Kind,
    id: fromID,
    name: fromName,
    usesID: toID,
  }));
};

/** Refuses to delete what others use. Records that are deleted together may use each other. */
export const assertUnused = async (tx: Executor, kind: Kind, ids: readonly number[]) => {
  const references = (await referencesTo(tx, kind, ids)).filter((user) => user.kind !== kind || !ids.includes(user.id));
  if (references.length === 0) return;
  const [first] = references;
  throw conflict('IN_USE', `the ${kind} is used by ${first?.kind} ${first?.id} "${first?.name}"`, {
    references: references.map(({ kind, id, name }) => ({ kind, id, name })),
  });
};
