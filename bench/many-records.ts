import type { Store } from '../packages/controller/src/store/store.ts';

interface RecordCounts {
  readonly tasks: number;
  readonly notifications: number;
  readonly files: number;
  readonly runs: number;
}

const day = '2026-10-';

/** Numbers from 1 as rows of `s(i)`. */
const numbers = (engine: string, count: number) =>
  engine === 'postgres'
    ? `generate_series(1, ${count}) as s(i)`
    : `(with recursive c(i) as (select 1 union all select i + 1 from c where i < ${count}) select i from c) as s`;

const seeds = (engine: string, counts: RecordCounts) => {
  const text = (value: string) => `cast(${value} as text)`;
  const at = `'${day}' || ${text('10 + i % 20')} || 'T10:00:00.000Z'`;
  return [
    `insert into tasks (comment, status, error, "accessPlane", "controlPlane", configuration, dumps, "scheduleEnabled",
      "createdAt", "updatedAt") select 'task ' || ${text('i')}, i % 10, '', '[]', '[]', '[]', '{}', 0, ${at}, ${at}
      from ${numbers(engine, counts.tasks)}`,
    `insert into links select 'task', i, 'task', 'plugin', 1 + i % 20 from ${numbers(engine, counts.tasks)}`,
    `insert into notifications (severity, kind, message, audience, "createdAt")
      select case when i % 10 = 0 then 'error' else 'info' end, 'run', 'message ' || ${text('i')}, 'user:' || ${text('1 + i % 3')},
      '${day}' || ${text(`10 + i / ${Math.ceil(counts.notifications / 20)}`)} || 'T10:00:00.000Z'
      from ${numbers(engine, counts.notifications)}`,
    `insert into files (name, category, kind, mime, size, md5, sha1, sha256, sha3_384, original_sha256, source, tags, state,
      problem, "first_seen_at", "createdAt", "updatedAt") select 'file ' || ${text('i')} || '.bin', 'other', 'binary',
      'application/octet-stream', i, '', '', ${text('i')}, '', '', 'upload', '', 'ready', '', ${at}, ${at}, ${at}
      from ${numbers(engine, counts.files)}`,
    `insert into runs ("taskID", number, status, "stopReason", "stopMode", verdict, validity, health, comment, labels, origin,
      priority, "queuedAt", "startedAt", "finishedAt", t0, "pausedMs", epoch, attempt, definition, "definitionSecrets",
      "definitionHash", capture, thresholds, "agentLossPolicy", summary, pinned, error, "createdAt", "updatedAt")
      select 1, i, 7, 'duration', '', 1, '{"valid":true,"reasons":[]}', 'ok', 'run ' || ${text('i')}, '{}', 'user', 5, ${at}, ${at},
      ${at}, 1, 0, 0, 1, '{"comment":"","accessPlane":[],"controlPlane":[],"configuration":[],"dumps":{}}', '{}', '', '{}', '[]',
      'auto', '{"entries":[],"thresholds":[]}', 1, '', ${at}, ${at} from ${numbers(engine, counts.runs)}`,
    `insert into "runSamples" ("runID", "agentID", "orderIndex", "fromSeq", "toSeq", "fromAt", "toAt", "isBlock", data)
      select i, 1, 0, 1, 60, 1000, 60000, 1, ${engine === 'postgres' ? "'\\x00'::bytea" : "x'00'"} from ${numbers(engine, counts.runs)}`,
  ];
};

/** Makes records of which a list shows some. */
export const makeRecords = async ({ database }: Store, counts: RecordCounts) => {
  for (const sql of seeds(database.engine, counts)) await database.transaction((tx) => tx.run({ name: '', sql }, []));
  if (database.engine === 'sqlite') await database.transaction((tx) => tx.run({ name: '', sql: 'analyze' }, []));
  // PostgreSQL does this itself within a minute of so many changes; within a transaction it cannot be asked for.
  else await database.run({ name: '', sql: 'vacuum analyze' }, []);
};
