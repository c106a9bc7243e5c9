import { type DeviceUse, runStatus } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { jsonMember } from '../engine/expressions.ts';
import { statement } from '../engine/statement.ts';

/** Labels of a run that describe its device under test. */
export const deviceLabels = {
  name: 'device',
  vendor: 'deviceVendor',
  model: 'deviceModel',
  version: 'deviceVersion',
} as const;

const used = statement((db, _: object, engine) => {
  const label = (member: keyof typeof deviceLabels) =>
    sql<string>`coalesce(${jsonMember('r.labels', deviceLabels[member], engine)}, '')`;
  return db
    .selectFrom('runs as r')
    .select([
      label('name').as('name'),
      label('vendor').as('vendor'),
      label('model').as('model'),
      label('version').as('version'),
      sql<number>`count(*)`.as('runs'),
      sql<string | null>`max(${sql.ref('r.finishedAt')})`.as('lastRunAt'),
    ])
    .where(sql<boolean>`${label('name')} <> ''`)
    .groupBy([label('name'), label('vendor'), label('model'), label('version')])
    .orderBy(sql`max(${sql.ref('r.queuedAt')})`, 'desc')
    .limit(1000);
});

/** Each device in each version that runs have had, the newest first. */
export const devicesOfRuns = async (read: Executor): Promise<DeviceUse[]> =>
  (await used.all(read, {})).map((row) => ({ ...row, runs: Number(row.runs) }));

const ended = [runStatus.finished, runStatus.stopped, runStatus.failed];

const ofDevice = statement((db, p: { device: string }, engine) =>
  db
    .selectFrom('runs as r')
    .innerJoin('tasks as t', 't.id', 'r.taskID')
    .select(['r.id', 'r.taskID', 'r.number', 'r.status', 'r.verdict', 'r.labels', 'r.finishedAt', 'r.summary'])
    .select('t.comment as task')
    .where(sql<boolean>`${jsonMember('r.labels', deviceLabels.name, engine)} = ${p.device}`)
    .where('r.status', 'in', ended)
    .where('t.deletedAt', 'is', null)
    .orderBy('r.id', 'desc')
    .limit(100),
);

/** The newest finished runs with a device, of all tasks. */
export const runsOfDevice = (read: Executor, device: string) => ofDevice.all(read, { device });
