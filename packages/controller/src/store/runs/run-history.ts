import { activeStatuses } from '@rushhour/contract';
import { sql } from 'kysely';
import type { Executor } from '../engine/database.ts';
import { inList, inTexts } from '../engine/expressions.ts';
import { decoderOf } from '../engine/row.ts';
import { statement } from '../engine/statement.ts';
import { createTable } from '../engine/table.ts';
import { tables } from '../tables/index.ts';
import type { RunAgentRecord } from './run-agents.ts';
import type { RunEventRecord } from './run-events.ts';

type Row = Record<string, unknown>;
const eventOf = decoderOf(tables.runEvents) as (row: Row) => RunEventRecord;
const agentOf = decoderOf(tables.runAgents) as (row: Row) => RunAgentRecord;

const statuses = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('runs')
    .select(['id', 'status'])
    .where(inList('id', p.ids, engine)),
);
/** The statuses of the runs that exist. */
export const runStatuses = async (read: Executor, ids: readonly number[]) =>
  new Map((await statuses.all(read, { ids: JSON.stringify(ids) })).map(({ id, status }) => [id, status]));

const epochs = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('runs')
    .select(['id', 'epoch'])
    .where(inList('id', p.ids, engine))
    .where('status', 'in', activeStatuses),
);
/** The epochs of those of the runs that are active. */
export const activeEpochs = async (read: Executor, ids: readonly number[]) =>
  new Map((await epochs.all(read, { ids: JSON.stringify(ids) })).map(({ id, epoch }) => [id, epoch]));

interface EventFilter {
  runID: number;
  /** Empty: every type. */
  type: string;
  from: string;
  to: string;
}
type EventPage = EventFilter & { limit: number; offset: number };
const isWanted = ({ runID, type, from, to }: EventFilter) =>
  sql<boolean>`"runID" = ${runID} and (cast(${type} as text) = '' or type = ${type}) and ts >= ${from} and ts <= ${to}`;
const eventPages = {
  asc: statement((db, p: EventPage) =>
    db.selectFrom('runEvents').selectAll().where(isWanted(p)).orderBy('seq').limit(p.limit).offset(p.offset),
  ),
  desc: statement((db, p: EventPage) =>
    db.selectFrom('runEvents').selectAll().where(isWanted(p)).orderBy('seq', 'desc').limit(p.limit).offset(p.offset),
  ),
};
const eventCount = statement((db, p: EventFilter) =>
  db.selectFrom('runEvents').select(sql<number>`count(*)`.as('total')).where(isWanted(p)),
);
/** What happened in a run, a page of it. */
export const runEventPage = async (read: Executor, order: 'asc' | 'desc', page: EventPage) => {
  const [rows, count] = await Promise.all([eventPages[order].all(read, page), eventCount.first(read, page)]);
  return { rows: rows.map((row) => eventOf(row as unknown as Row)), total: Number(count?.total ?? 0) };
};

const eventsAfter = statement((db, p: { runID: number; seq: number }) =>
  db
    .selectFrom('runEvents')
    .selectAll()
    .where('runID', '=', p.runID)
    .where('seq', '>', p.seq)
    .orderBy('seq')
    .limit(500),
);
/** What happened after an event, oldest first, at most 500. */
export const runEventsAfter = async (read: Executor, runID: number, seq: number) =>
  (await eventsAfter.all(read, { runID, seq })).map((row) => eventOf(row as unknown as Row));

const newestEvent = statement((db, p: { runID: number }) =>
  db.selectFrom('runEvents').select(sql<number | null>`max(seq)`.as('seq')).where('runID', '=', p.runID),
);
export const newestRunEvent = async (read: Executor, runID: number) =>
  Number((await newestEvent.first(read, { runID }))?.seq ?? 0);

const histories = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('runEvents')
    .selectAll()
    .where(inList('runID', p.ids, engine))
    .where('type', '=', 'status')
    .orderBy('runID')
    .orderBy('seq'),
);
/** The changes of status of these runs, oldest first. */
export const statusEventsOf = async (read: Executor, ids: readonly number[]) =>
  (await histories.all(read, { ids: JSON.stringify(ids) })).map((row) => eventOf(row as unknown as Row));

const agentsOf = statement((db, p: { ids: string }, engine) =>
  db
    .selectFrom('runAgents')
    .selectAll()
    .where(inList('runID', p.ids, engine))
    .orderBy('runID')
    .orderBy('agentID'),
);
export const agentsOfRuns = async (read: Executor, ids: readonly number[]) =>
  (await agentsOf.all(read, { ids: JSON.stringify(ids) })).map((row) => agentOf(row as unknown as Row));

/** Log lines of agents about a run. */
export const runLogs = createTable('agentLogs', {
  search: ['message', 'source'],
  filters: {
    runID: (id: number) => sql`${sql.ref('t.runID')} = ${id}`,
    agentID: (id: number) => sql`${sql.ref('t.agentID')} = ${id}`,
    /** One of these levels, as a JSON text. */
    levels: (levels: string, engine) => inTexts('t.level', levels, engine),
  },
});

const logsAfter = statement((db, p: { runID: number; id: number }) =>
  db.selectFrom('agentLogs').selectAll().where('runID', '=', p.runID).where('id', '>', p.id).orderBy('id').limit(500),
);
/** Lines that came after one, oldest first, at most 500. */
export const runLogsAfter = (read: Executor, runID: number, id: number) => logsAfter.all(read, { runID, id });

const newestLog = statement((db, p: { runID: number }) =>
  db.selectFrom('agentLogs').select(sql<number | null>`max(id)`.as('id')).where('runID', '=', p.runID),
);
export const newestRunLog = async (read: Executor, runID: number) =>
  Number((await newestLog.first(read, { runID }))?.id ?? 0);
