import { sql } from 'kysely';
import { canonicalJson } from '../../canonical-json.ts';
import type { Change } from '../engine/change.ts';
import type { RecordOf } from '../engine/column.ts';
import type { Executor } from '../engine/database.ts';
import { inList } from '../engine/expressions.ts';
import { encodeRow } from '../engine/row.ts';
import type { Secrets } from '../engine/secrets.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import { type Tables, tables } from '../tables/index.ts';
import { findTask, openedConfiguration, type StoredTask } from '../tasks/tasks.ts';

export type StoredSchedule = RecordOf<(typeof tables)['taskSchedules']>;
export interface ScheduleOfTask extends StoredSchedule {
  comment: string;
  enabled: boolean;
}

const insert = statement((db, _: Tables['taskSchedules']) =>
  db.insertInto('taskSchedules').values(everyColumn('taskSchedules')),
);
const drop = statement((db, p: { taskID: number }) =>
  db.deleteFrom('taskSchedules').where('taskID', '=', p.taskID).returning('taskID'),
);
const enable = statement((db, p: { id: number; enabled: number }) =>
  db.updateTable('tasks').set({ scheduleEnabled: p.enabled }).where('id', '=', p.id),
);
const advance = statement(
  (
    db,
    p: {
      taskID: number;
      due: string;
      nextRunAt: string | null;
      runsMade: number;
      lastRunID: number | null;
      now: string;
    },
  ) =>
    db
      .updateTable('taskSchedules')
      .set({ nextRunAt: p.nextRunAt, runsMade: p.runsMade, lastRunID: p.lastRunID, updatedAt: p.now })
      .where('taskID', '=', p.taskID)
      .where('nextRunAt', '=', p.due)
      .returning('taskID'),
);

const rebind = statement((db, p: { taskID: number; issuerID: number; before: string; definition: string }) =>
  db
    .updateTable('taskSchedules')
    .set({ definition: p.definition })
    .where('taskID', '=', p.taskID)
    .where('definition', '=', p.before)
    .where('issuerID', '=', p.issuerID),
);

const ofTasks = statement((db, p: { taskID: number }) =>
  db
    .selectFrom('taskSchedules')
    .innerJoin('tasks', 'tasks.id', 'taskSchedules.taskID')
    .selectAll('taskSchedules')
    .select(['tasks.comment', 'tasks.scheduleEnabled'])
    .where('tasks.deletedAt', 'is', null)
    .where(sql<boolean>`(${p.taskID} = 0 or ${sql.ref('tasks.id')} = ${p.taskID})`)
    .orderBy('taskSchedules.taskID'),
);
const dueBefore = statement((db, p: { now: string }) =>
  db
    .selectFrom('taskSchedules')
    .innerJoin('tasks', 'tasks.id', 'taskSchedules.taskID')
    .selectAll('taskSchedules')
    .select(['tasks.comment', 'tasks.scheduleEnabled'])
    .where('tasks.deletedAt', 'is', null)
    .where('tasks.scheduleEnabled', '=', 1)
    .where('taskSchedules.nextRunAt', '<=', p.now)
    .orderBy('taskSchedules.priority', 'desc')
    .orderBy('taskSchedules.nextRunAt')
    .limit(100),
);
const agentLinks = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('links')
    .select(['fromID', 'toID'])
    .where('fromKind', '=', 'task')
    .where('toKind', '=', 'agent')
    .where(inList('fromID', p.ids, engine)),
);

const opened = ({
  scheduleEnabled,
  ...row
}: StoredSchedule & { comment: string; scheduleEnabled: number }): ScheduleOfTask => ({
  ...row,
  enabled: scheduleEnabled === 1,
});

/** The schedules of all existing tasks, or of one task. */
export const schedulesOf = async (executor: Executor, taskID = 0): Promise<ScheduleOfTask[]> =>
  (await ofTasks.all(executor, { taskID })).map(opened);

/** Schedules that are due. */
export const dueSchedules = async (executor: Executor, now: string): Promise<ScheduleOfTask[]> =>
  (await dueBefore.all(executor, { now })).map(opened);

export const putSchedule = async (tx: Executor, schedule: StoredSchedule, isEnabled: boolean) => {
  await drop.all(tx, { taskID: schedule.taskID });
  await insert.all(tx, encodeRow(tables.taskSchedules, schedule) as Tables['taskSchedules']);
  await enable.all(tx, { id: schedule.taskID, enabled: isEnabled ? 1 : 0 });
};

/** Identifies what a task does, secrets included. Keyed, because secrets may be short. */
export const definitionMark = (task: StoredTask, secrets: Secrets): string => {
  const { accessPlane, controlPlane, dumps } = task;
  const definition = { accessPlane, controlPlane, dumps, configuration: openedConfiguration(task, secrets) };
  return secrets.derive('scheduled definition', canonicalJson(definition)).toString('hex');
};

/** After the issuer of a schedule has changed the task, the schedule is for the new definition. */
export const rebindSchedule = async (tx: Change, secrets: Secrets, before: StoredTask) => {
  const after = await findTask(tx, before.id);
  if (after === undefined || tx.userId === null) return;
  const [was, is] = [before, after].map((task) => definitionMark(task, secrets)) as [string, string];
  await rebind.all(tx, { taskID: before.id, issuerID: tx.userId, before: was, definition: is });
};

/** False when there was none. */
export const dropSchedule = async (tx: Executor, taskID: number): Promise<boolean> => {
  const rows = await drop.all(tx, { taskID });
  await enable.all(tx, { id: taskID, enabled: 0 });
  return rows.length > 0;
};

/** Claims an occurrence; false when another controller has claimed it. */
export const takeOccurrence = async (
  tx: Executor,
  taken: {
    taskID: number;
    due: string;
    nextRunAt: string | null;
    runsMade: number;
    lastRunID: number | null;
    now: string;
  },
): Promise<boolean> => {
  if ((await advance.all(tx, taken)).length === 0) return false;
  if (taken.nextRunAt === null) await enable.all(tx, { id: taken.taskID, enabled: 0 });
  return true;
};

/** Agents by task. */
export const agentsOfTasks = async (executor: Executor, ids: readonly number[]): Promise<Map<number, number[]>> => {
  const found = new Map<number, number[]>();
  for (const { fromID, toID } of await agentLinks.all(executor, { ids: JSON.stringify(ids) })) {
    found.set(fromID, [...(found.get(fromID) ?? []), toID]);
  }
  return found;
};
