import { randomUUID } from 'node:crypto';
import type { Database } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';

const insert = statement((db, p: { value: string }) =>
  db
    .insertInto('installation')
    .values({ name: 'controllerId', value: p.value })
    .onConflict((c) => c.doNothing()),
);
const find = statement((db, _: object) =>
  db.selectFrom('installation').select('value').where('name', '=', 'controllerId'),
);

/** The identity of this installation, made at its first start: agents know by it where they belong. */
export const loadControllerId = async (database: Database): Promise<string> => {
  await database.transaction((tx) => insert.all(tx, { value: randomUUID() }));
  return (await find.first(database, {}))?.value ?? '';
};
