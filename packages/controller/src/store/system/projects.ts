import { activeStatuses, runStatus } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Change } from '../engine/change.ts';
import type { Engine, Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { releaseUsed } from '../engine/links.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';

const ofTasks = (what: ReturnType<typeof sql>, condition = sql`true`) =>
  sql`(select ${what} from tasks where ${sql.ref('tasks.projectID')} = ${sql.ref('t.ID')} and ${sql.ref('tasks.deletedAt')} is null and ${condition})`;

const latest = (engine: Engine) => sql.raw(engine === 'sqlite' ? 'max' : 'greatest');
const newest = (column: string) => sql`max(coalesce(${sql.ref(column)}, ''))`;

/** Counters of a project come from its tasks whenever it is read; they cannot drift. */
export const projects = createTable('projects', {
  search: ['name', 'description'],
  computed: {
    taskCount: () => ofTasks(sql`count(*)`) as ReturnType<typeof sql<number>>,
    activeTaskCount: () =>
      ofTasks(sql`count(*)`, sql`status in (${sql.raw(activeStatuses.join(', '))})`) as ReturnType<typeof sql<number>>,
    errorTaskCount: () =>
      ofTasks(sql`count(*)`, sql`status = ${sql.lit(runStatus.failed)}`) as ReturnType<typeof sql<number>>,
    lastActivityAt: (engine: Engine) =>
      sql<string>`${latest(engine)}(${sql.ref('t.createdAt')}, ${sql.ref('t.updatedAt')}, coalesce(${ofTasks(newest('startedAt'))}, ''), coalesce(${ofTasks(newest('finishedAt'))}, ''))`,
  },
  filters: {
    archived: (which: string) =>
      sql`(${which} = 'all' or (${which} = 'only') = (${sql.ref('t.archivedAt')} is not null))`,
  },
});

const active = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('tasks')
    .select(['id', 'comment'])
    .where(inList('projectID', p.ids, engine))
    .where('deletedAt', 'is', null)
    .where('status', 'in', activeStatuses)
    .limit(100),
);

/** Tasks of the projects that are queued or running. */
export const activeTasksOf = (executor: Executor, projectIds: readonly number[]) =>
  active.all(executor, { ids: JSON.stringify(projectIds) });

const detach = statement((db, p: { ids: string }, engine) =>
  db
    .updateTable('tasks')
    .set({ projectID: null })
    .where(inList('projectID', p.ids, engine)),
);
const markDeleted = statement((db, p: { ids: string; now: string }, engine) =>
  db
    .updateTable('tasks')
    .set({ deletedAt: p.now })
    .where(inList('projectID', p.ids, engine))
    .where('deletedAt', 'is', null)
    .returning('id'),
);
const disable = statement((db, p: { ids: string }, engine) =>
  db
    .updateTable('tasks')
    .set({ scheduleEnabled: 0 })
    .where(inList('projectID', p.ids, engine)),
);

/** Takes the tasks out of projects that go away; `delete` marks the tasks deleted as well. */
export const releaseTasks = async (tx: Change, projectIds: readonly number[], fate: 'detach' | 'delete') => {
  const ids = JSON.stringify(projectIds);
  if (fate === 'delete') {
    const deleted = (await markDeleted.all(tx, { ids, now: tx.now })).map(({ id }) => id);
    for (const id of deleted) tx.touch('tasks', id);
    await releaseUsed(tx, 'task', deleted);
  }
  await detach.all(tx, { ids });
};

export const disableSchedulesOf = (tx: Change, projectIds: readonly number[]) =>
  disable.all(tx, { ids: JSON.stringify(projectIds) });
