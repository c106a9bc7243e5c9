import { sql } from 'kysely';
import type { RecordOf } from '../engine/column.ts';
import type { Executor } from '../engine/database.ts';
import { decoderOf, encodeRow } from '../engine/row.ts';
import { everyColumn, statement } from '../engine/statement.ts';
import { type Tables, tables } from '../tables/index.ts';
import type { Writing } from './runs.ts';

export type RunEventRecord = RecordOf<typeof tables.runEvents>;

export interface NewRunEvent {
  type: string;
  severity?: 'info' | 'warning' | 'error';
  agentID?: number | null;
  /** Who or what: `user:<id>`, `schedule`, `ai`, `controller`, `agent`. */
  source: string;
  message: string;
  data?: Record<string, unknown>;
  /** When it happened, unless it is now. */
  ts?: string;
}

const newest = statement((db, p: { runID: number }) =>
  db.selectFrom('runEvents').select(sql<number | null>`max(seq)`.as('seq')).where('runID', '=', p.runID),
);
const insert = statement((db, _: Tables['runEvents']) => db.insertInto('runEvents').values(everyColumn('runEvents')));

/** Appends an event. The run must be locked or changed by this transaction, so that the numbers have no gaps. */
export const appendEvent = async (tx: Writing, runID: number, event: NewRunEvent) => {
  const seq = Number((await newest.first(tx, { runID }))?.seq ?? 0) + 1;
  const { severity = 'info', agentID = null, data = {}, ts = tx.now, type, source, message } = event;
  const row = { runID, seq, ts, type, severity, agentID, source, message, data };
  await insert.all(tx, encodeRow(tables.runEvents, row) as Tables['runEvents']);
  return seq;
};

const setData = statement((db, p: { runID: number; seq: number; data: string }) =>
  db.updateTable('runEvents').set({ data: p.data }).where('runID', '=', p.runID).where('seq', '=', p.seq),
);

/** Counts what was not kept of a run, in one event of this type. The run must be locked. */
export const countDropped = async (
  tx: Writing,
  runID: number,
  { type, message }: Pick<NewRunEvent, 'type' | 'message'>,
) => {
  const [known] = await runEventsOf(tx, runID, type);
  if (known === undefined) {
    await appendEvent(tx, runID, { type, severity: 'warning', source: 'controller', message, data: { dropped: 1 } });
  } else {
    const data = JSON.stringify({ ...known.data, dropped: Number(known.data['dropped'] ?? 0) + 1 });
    await setData.all(tx, { runID, seq: known.seq, data });
  }
};

/** Events of one run that agents may report. */
export const maxAgentEvents = 10_000;

/** Appends an event, or counts it if agents have reported too many. */
export const appendBounded = async (tx: Writing, runID: number, event: NewRunEvent) => {
  const seq = Number((await newest.first(tx, { runID }))?.seq ?? 0);
  if (event.source !== 'agent' || seq < maxAgentEvents) return appendEvent(tx, runID, event);
  const message = `agents reported more than ${maxAgentEvents} events; those that followed were not kept`;
  return countDropped(tx, runID, { type: 'eventsDropped', message });
};

const ofType = statement((db, p: { runID: number; type: string }) =>
  db.selectFrom('runEvents').selectAll().where('runID', '=', p.runID).where('type', '=', p.type).orderBy('seq'),
);
const decode = decoderOf(tables.runEvents) as (row: Record<string, unknown>) => RunEventRecord;

/** The events of one type, oldest first. */
export const runEventsOf = async (read: Executor, runID: number, type: string) =>
  (await ofType.all(read, { runID, type })).map((row) => decode(row as unknown as Record<string, unknown>));
