import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { inTexts } from '../engine/expressions.ts';
import { decoderOf } from '../engine/row.ts';
import { statement } from '../engine/statement.ts';
import type { RunEventRecord } from '../runs/run-events.ts';
import { tables } from '../tables/index.ts';

type Row = Record<string, unknown>;
const eventOf = decoderOf(tables.runEvents) as (row: Row) => RunEventRecord;

/** `projects`: a JSON list of ids, `null` for all. */
const inProjects = (projects: unknown, engine: 'sqlite' | 'postgres') =>
  engine === 'sqlite'
    ? sql<boolean>`(${projects} = 'null' or ${sql.ref('tasks.projectID')} in (select value from json_each(${projects})))`
    : sql<boolean>`(cast(${projects} as text) = 'null' or ${sql.ref('tasks.projectID')} in (select value::bigint from json_array_elements_text(case when cast(${projects} as text) = 'null' then '[]' else ${projects} end::json)))`;

const counts = statement((db, p: { projects: string; since: string }, engine) =>
  db
    .selectFrom('tasks')
    .select([
      sql<number>`coalesce(sum(case when status between 2 and 6 then 1 else 0 end), 0)`.as('running'),
      sql<number>`coalesce(sum(case when status = 1 then 1 else 0 end), 0)`.as('queued'),
      sql<number>`coalesce(sum(case when status = 9 and ${sql.ref('finishedAt')} >= ${p.since} then 1 else 0 end), 0)`.as(
        'failed24h',
      ),
    ])
    .where('deletedAt', 'is', null)
    .where(inProjects(p.projects, engine)),
);

const newest = statement((db, p: { projects: string }, engine) =>
  db
    .selectFrom('runEvents')
    .innerJoin('runs', 'runs.id', 'runEvents.runID')
    .innerJoin('tasks', 'tasks.id', 'runs.taskID')
    .selectAll('runEvents')
    .select('runs.taskID')
    .where('tasks.deletedAt', 'is', null)
    .where(inProjects(p.projects, engine))
    .orderBy('runEvents.ts', 'desc')
    .orderBy('runEvents.seq', 'desc')
    .limit(10),
);

/** Counts of running, queued and recently failed tasks, and the latest events. */
export const stateOfTasks = async (read: Executor, projectIDs: readonly number[] | undefined, nowMs: number) => {
  const projects = JSON.stringify(projectIDs ?? null);
  const [count, events] = await Promise.all([
    counts.first(read, { projects, since: new Date(nowMs - 86_400_000).toISOString() }),
    newest.all(read, { projects }),
  ]);
  return {
    running: Number(count?.running ?? 0),
    queued: Number(count?.queued ?? 0),
    failed24h: Number(count?.failed24h ?? 0),
    events: events.map(({ taskID, ...event }) => ({ taskID, ...eventOf(event as unknown as Row) })),
  };
};

interface EventQuery {
  runID: number;
  since: string;
  /** A JSON list. */
  severities: string;
}
const wanted = (p: EventQuery, engine: 'sqlite' | 'postgres') =>
  sql<boolean>`"runID" = ${p.runID} and ts >= ${p.since} and ${inTexts('severity', p.severities, engine)}`;
const pages = {
  asc: statement((db, p: EventQuery & { limit: number; offset: number }, engine) =>
    db.selectFrom('runEvents').selectAll().where(wanted(p, engine)).orderBy('seq').limit(p.limit).offset(p.offset),
  ),
  desc: statement((db, p: EventQuery & { limit: number; offset: number }, engine) =>
    db
      .selectFrom('runEvents')
      .selectAll()
      .where(wanted(p, engine))
      .orderBy('seq', 'desc')
      .limit(p.limit)
      .offset(p.offset),
  ),
};
const counted = statement((db, p: EventQuery, engine) =>
  db.selectFrom('runEvents').select(sql<number>`count(*)`.as('total')).where(wanted(p, engine)),
);

/** Events of a run since a time, of some severities. */
export const severeEvents = async (
  read: Executor,
  order: 'asc' | 'desc',
  page: EventQuery & { limit: number; offset: number },
) => {
  const [rows, count] = await Promise.all([pages[order].all(read, page), counted.first(read, page)]);
  return { rows: rows.map((row) => eventOf(row as unknown as Row)), total: Number(count?.total ?? 0) };
};
