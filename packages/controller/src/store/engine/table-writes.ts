import { inList } from './expressions.ts';
import { type Statement, statement } from './statement.ts';
import type { TableShape } from './table-reads.ts';

// biome-ignore lint/suspicious/noExplicitAny: the generic repository compiles for any table; its callers are typed
type Any = any;

const placeholdersFor = (names: readonly string[], p: Any) => Object.fromEntries(names.map((name) => [name, p[name]]));

export const insertStatement = ({ name, idName }: TableShape, columns: readonly string[]): Statement<object, Any> =>
  statement((db: Any, p: Any) => db.insertInto(name).values(placeholdersFor(columns, p)).returning(idName));

export const updateStatement = (
  { name, idName, isSoft }: TableShape,
  columns: readonly string[],
): Statement<object, Any> =>
  statement((db: Any, p: Any) => {
    const update = db
      .updateTable(name)
      .set(placeholdersFor(columns, p))
      .where(idName, '=', p[idName])
      .returning(idName);
    return isSoft ? update.where('deletedAt', 'is', null) : update;
  });

export const removeStatement = ({ name, idName, isSoft }: TableShape): Statement<{ ids: string; now: string }, Any> =>
  statement((db: Any, p: Any, engine) => {
    const remove = isSoft
      ? db.updateTable(name).set({ deletedAt: p.now }).where('deletedAt', 'is', null)
      : db.deleteFrom(name);
    return remove.where(inList(idName, p.ids, engine)).returning(idName);
  });
