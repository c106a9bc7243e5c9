import type { ConfigurationEntry } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Change } from '../engine/change.ts';
import type { Executor } from '../engine/database.ts';
import { hasTags, inList, jsonMember } from '../engine/expressions.ts';
import type { Secrets } from '../engine/secrets.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import { openConfiguration, openSecrets } from './configuration-secrets.ts';

/** The tags of the filter are a JSON list. */
export const taskTemplates = createTable('taskTemplates', {
  search: ['name', 'description', 'tags'],
  heavy: ['task'],
  filters: {
    tag: (tags: string, engine) => hasTags('t.tags', tags, engine),
    builtIn: (isBuiltIn: number) => sql`${sql.ref('t.builtIn')} = ${isBuiltIn}`,
  },
});

export type StoredTemplate = NonNullable<Awaited<ReturnType<typeof taskTemplates.find>>>;

const ofProject = (column: string) =>
  sql<
    string | null
  >`(select ${sql.ref(`p.${column}`)} from projects as p where ${sql.ref('p.ID')} = ${sql.ref('t.projectID')})`;

/** The tasks that a record is used by, found once; looking for the link of each task takes the square of their number. */
const uses = (kind: 'agent' | 'plugin') => (id: number) =>
  sql`t.id in (select ${sql.ref('l.fromID')} from links as l where ${sql.ref('l.fromKind')} = 'task' and ${sql.ref('l.toKind')} = ${sql.lit(kind)} and ${sql.ref('l.toID')} = ${id})`;

/** All tasks, deleted ones too: `find` with `findTask` where they must not be seen. Statuses are a JSON list. */
export const tasks = createTable('tasks', {
  search: ['comment'],
  heavy: ['accessPlane', 'controlPlane', 'configuration', 'configurationSecrets', 'thresholds'],
  hasTrigrams: true,
  counts: { table: 'taskCounts', filters: ['status', 'projectID', 'projectIDs'], only: 'isLive' },
  showsDeleted: true,
  computed: {
    projectName: () => ofProject('name'),
    projectArchivedAt: () => ofProject('archivedAt'),
  },
  filters: {
    status: (statuses: string, engine) => inList('t.status', statuses, engine),
    projectID: (id: number) => sql`${sql.ref('t.projectID')} = ${id}`,
    projectIDs: (ids: string, engine) => inList('t.projectID', ids, engine),
    createdFrom: (at: string) => sql`${sql.ref('t.createdAt')} >= ${at}`,
    createdTo: (at: string) => sql`${sql.ref('t.createdAt')} < ${at}`,
    device: (name: string, engine) => sql`${jsonMember('t.device', 'name', engine)} = ${name}`,
    agentID: uses('agent'),
    pluginID: uses('plugin'),
    isLive: (_: true) => sql`${sql.ref('t.deletedAt')} is null`,
    isDeleted: (_: true) => sql`${sql.ref('t.deletedAt')} is not null`,
  },
});

/** The filter of a list by whether tasks are marked deleted; a condition without a parameter can use an index. */
export const deletedFilter = (which: 'no' | 'only' | 'all'): { isLive?: true; isDeleted?: true } =>
  which === 'all' ? {} : which === 'only' ? { isDeleted: true } : { isLive: true };

export type StoredTask = NonNullable<Awaited<ReturnType<typeof tasks.find>>>;

/** A task that is not deleted. Its secrets are masked. */
export const findTask = async (executor: Executor, id: number): Promise<StoredTask | undefined> => {
  const task = await tasks.find(executor, id);
  return task?.deletedAt === null ? task : undefined;
};

export const openedConfiguration = (
  { id, configuration, configurationSecrets }: StoredTask,
  secrets: Secrets,
): ConfigurationEntry[] => openConfiguration(configuration, configurationSecrets, secrets, { table: 'tasks', id });

/** The secrets of a task in clear, by JSON pointer into the task. */
export const openedSecrets = ({ id, configurationSecrets }: StoredTask, secrets: Secrets): Record<string, string> =>
  openSecrets(configurationSecrets, secrets, { table: 'tasks', id });

/** A task that is not deleted, with its secrets in clear: for plans and agents, never for answers. */
export const openTask = async (executor: Executor, secrets: Secrets, id: number): Promise<StoredTask | undefined> => {
  const task = await findTask(executor, id);
  return task && { ...task, configuration: openedConfiguration(task, secrets) };
};

/** What a task is called where it is only named. */
export const taskNameOf = ({ id, comment }: { id: number; comment: string }) =>
  comment.split('\n', 1)[0]?.trim().slice(0, 128) || `task ${id}`;

const counted = statement((db, p: { projectID: number; from: string; to: string }) =>
  db
    .selectFrom('tasks as t')
    .select(['t.status', 't.verdict', 't.scheduleEnabled as scheduled'])
    .select(sql<number>`count(*)`.as('count'))
    .where('t.deletedAt', 'is', null)
    .where(sql<boolean>`(cast(${p.projectID} as bigint) = 0 or ${sql.ref('t.projectID')} = ${p.projectID})`)
    .where(sql<boolean>`coalesce(${sql.ref('t.startedAt')}, ${sql.ref('t.createdAt')}) >= ${p.from}`)
    .where(sql<boolean>`coalesce(${sql.ref('t.startedAt')}, ${sql.ref('t.createdAt')}) < ${p.to}`)
    .groupBy(['t.status', 't.verdict', 't.scheduleEnabled']),
);
const kept = statement((db, p: { projectID: number }) =>
  db
    .selectFrom('taskCounts')
    .select(['status', 'verdict', 'scheduled', sql<number>`sum("count")`.as('count')])
    .where(sql<boolean>`(cast(${p.projectID} as bigint) = 0 or "projectID" = ${p.projectID})`)
    .groupBy(['status', 'verdict', 'scheduled'])
    .having(sql<boolean>`sum("count") > 0`),
);

/** How many tasks there are, by status, verdict and whether they are scheduled (1 or 0). */
export const countTasks = (
  executor: Executor,
  { projectID = 0, from, to }: { projectID?: number; from?: string; to?: string },
) =>
  from === undefined && to === undefined
    ? kept.all(executor, { projectID })
    : counted.all(executor, { projectID, from: from ?? '', to: to ?? '9999-12-31T23:59:59.999Z' });

const mark = statement((db, p: { id: number; deletedAt: string | null }) =>
  db.updateTable('tasks').set({ deletedAt: p.deletedAt }).where('id', '=', p.id),
);

/** Marks a task deleted, or takes the mark away; its version stays. */
export const markTask = async (tx: Change, id: number, deletedAt: string | null) => {
  await mark.all(tx, { id, deletedAt });
  tx.touch('tasks', id);
};
