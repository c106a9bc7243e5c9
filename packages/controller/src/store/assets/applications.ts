import type { ApplicationParameter, ApplicationSession } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Change } from '../engine/change.ts';
import type { Engine, Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import type { ParameterContent, SessionContent } from '../tables/assets.ts';

const equals = (column: string) => (value: unknown) => sql`${sql.ref(`t.${column}`)} = ${value}`;
const counted = (table: string) => () =>
  sql<number>`(select count(*) from ${sql.table(table)} as m where ${sql.ref('m.applicationId')} = ${sql.ref('t.id')})`;

export const applications = createTable('applications', {
  search: ['name', 'description', 'tags'],
  computed: { sessionCount: counted('applicationSessions'), parameterCount: counted('applicationParameters') },
  filters: {
    tag: (tag: string, engine: Engine) =>
      sql`${sql.raw(engine === 'sqlite' ? 'instr' : 'strpos')}(',' || ${sql.ref('t.tags')} || ',', ',' || cast(${tag} as text) || ',') > 0`,
    protocol: (protocol: string) =>
      sql`exists (select 1 from ${sql.table('applicationSessions')} as m where ${sql.ref('m.applicationId')} = ${sql.ref('t.id')} and ${sql.ref('m.protocol')} = ${protocol})`,
    mode: equals('mode'),
    source: equals('source'),
    pcapFileId: equals('pcapFileId'),
  },
});
export type ApplicationRow = NonNullable<Awaited<ReturnType<typeof applications.find>>>;

type Members = 'applicationParameters' | 'applicationSessions';

const selectOf = (table: Members) =>
  statement((db, p: { id: number }) =>
    db.selectFrom(table).select(['id', 'content']).where('applicationId', '=', p.id).orderBy('position').orderBy('id'),
  );
const removeOf = (table: Members) =>
  statement((db, p: { ids: string }, engine) => db.deleteFrom(table).where(inList('applicationId', p.ids, engine)));

const members = {
  parameters: { select: selectOf('applicationParameters'), remove: removeOf('applicationParameters') },
  sessions: { select: selectOf('applicationSessions'), remove: removeOf('applicationSessions') },
};

/** All sessions in one statement, however many they are. */
const insertSessions = statement((db, p: { id: number; sessions: string }, engine) => {
  const columns = sql.join(['applicationId', 'position', 'protocol', 'content'].map((name) => sql.ref(name)));
  const rows =
    engine === 'sqlite'
      ? sql`select ${p.id}, m.key, json_extract(m.value, '$.protocol'), m.value from json_each(${p.sessions}) as m`
      : sql`select ${p.id}::bigint, m.position, m.value ->> 'protocol', m.value::text from json_array_elements(${p.sessions}::json) with ordinality as m(value, position)`;
  return {
    compile: () => sql<never>`insert into ${sql.table('applicationSessions')} (${columns}) ${rows}`.compile(db),
  };
});
const insertParameter = statement((db, p: { applicationId: number; position: number; content: string }) =>
  db
    .insertInto('applicationParameters')
    .values({ applicationId: p.applicationId, position: p.position, content: p.content } as never),
);
const insertKept = statement((db, p: { id: number; applicationId: number; position: number; content: string }) =>
  db
    .insertInto('applicationParameters')
    .values({ id: p.id, applicationId: p.applicationId, position: p.position, content: p.content }),
);

export const replaceSessions = async (tx: Change, id: number, sessions: readonly SessionContent[]) => {
  await members.sessions.remove.all(tx, { ids: JSON.stringify([id]) });
  await insertSessions.all(tx, { id, sessions: JSON.stringify(sessions) });
};

/** Existing parameters keep their id, and with it the values drawn for them. */
export const replaceParameters = async (
  tx: Change,
  applicationId: number,
  parameters: readonly (ParameterContent & { id?: number })[],
) => {
  const before = await members.parameters.select.all(tx, { id: applicationId });
  const known = new Map(before.map(({ id, content }) => [id, (JSON.parse(content) as ParameterContent).name]));
  await members.parameters.remove.all(tx, { ids: JSON.stringify([applicationId]) });
  for (const [position, { id, ...parameter }] of parameters.entries()) {
    const [kept] =
      [...known].find(([knownId, name]) => (id === undefined ? name === parameter.name : knownId === id)) ?? [];
    const row = { applicationId, position, content: JSON.stringify(parameter) };
    if (kept === undefined) await insertParameter.all(tx, row);
    else await insertKept.all(tx, { id: kept, ...row });
    if (kept !== undefined) known.delete(kept);
  }
};

/** What belongs to one application, in its order. */
export const readMembers = async (executor: Executor, applicationId: number) => {
  const [parameters, sessions] = await Promise.all([
    members.parameters.select.all(executor, { id: applicationId }),
    members.sessions.select.all(executor, { id: applicationId }),
  ]);
  return {
    parameters: parameters.map(
      ({ id, content }) => ({ id, applicationId, ...JSON.parse(content) }) as ApplicationParameter,
    ),
    sessions: sessions.map(({ id, content }) => ({ id, applicationId, ...JSON.parse(content) }) as ApplicationSession),
  };
};

export const removeMembers = async (tx: Change, ids: readonly number[]) => {
  await members.parameters.remove.all(tx, { ids: JSON.stringify(ids) });
  await members.sessions.remove.all(tx, { ids: JSON.stringify(ids) });
};

const byName = statement((db, p: { name: string }) =>
  db.selectFrom('applications').select('id').where('name', '=', p.name),
);
export const findNamed = async (executor: Executor, name: string) => (await byName.first(executor, { name }))?.id;

const dictionaryByName = statement((db, p: { name: string }) =>
  db.selectFrom('dictionaries').select(['id', 'issuerId']).where('name', '=', p.name).orderBy('id'),
);
const dictionaryById = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('dictionaries')
    .select(['id', 'name'])
    .where(inList('id', p.ids, engine)),
);
/** Dictionaries of this name, that of the given user first. */
export const dictionariesNamed = async (executor: Executor, name: string, userId: number) =>
  (await dictionaryByName.all(executor, { name }))
    .sort((left, right) => Number(right.issuerId === userId) - Number(left.issuerId === userId))
    .map(({ id }) => id);
export const dictionaryNames = async (executor: Executor, ids: readonly number[]) =>
  new Map((await dictionaryById.all(executor, { ids: JSON.stringify(ids) })).map(({ id, name }) => [id, name]));
