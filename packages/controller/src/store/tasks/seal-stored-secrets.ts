import type { ConfigurationEntry } from '@rushhour/contract';
import type { Database, Executor } from '../engine/database.ts';
import type { Secrets } from '../engine/secrets.ts';
import { statement } from '../engine/statement.ts';
import { sealConfiguration } from './configuration-secrets.ts';

const pageRows = 100;

const findMark = statement((db, _: object) =>
  db.selectFrom('installation').select('value').where('name', '=', 'headersSealed'),
);
const insertMark = statement((db, _: object) =>
  db
    .insertInto('installation')
    .values({ name: 'headersSealed', value: '1' })
    .onConflict((c) => c.doNothing()),
);

const tasksAfter = statement((db, p: { after: number }) =>
  db
    .selectFrom('tasks')
    .select(['id', 'configuration', 'configurationSecrets'])
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(pageRows),
);
const setTask = statement((db, p: { id: number; configuration: string; configurationSecrets: string }) =>
  db
    .updateTable('tasks')
    .set({ configuration: p.configuration, configurationSecrets: p.configurationSecrets })
    .where('id', '=', p.id),
);
const runsAfter = statement((db, p: { after: number }) =>
  db
    .selectFrom('runs')
    .select(['id', 'definition', 'definitionSecrets'])
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(pageRows),
);
const setRun = statement((db, p: { id: number; definition: string; definitionSecrets: string }) =>
  db
    .updateTable('runs')
    .set({ definition: p.definition, definitionSecrets: p.definitionSecrets })
    .where('id', '=', p.id),
);

type Sealed = Record<string, string>;

const sealTasks = async (tx: Executor, secrets: Secrets) => {
  for (let after = 0; ; ) {
    const rows = await tasksAfter.all(tx, { after });
    for (const { id, configuration: before, configurationSecrets } of rows) {
      after = id;
      const owner = { table: 'tasks' as const, id, sealed: JSON.parse(configurationSecrets) as Sealed };
      const sealed = sealConfiguration(JSON.parse(before) as ConfigurationEntry[], secrets, owner);
      if (Object.keys(sealed.configurationSecrets).length === Object.keys(owner.sealed).length) continue;
      const configuration = JSON.stringify(sealed.configuration);
      await setTask.all(tx, { id, configuration, configurationSecrets: JSON.stringify(sealed.configurationSecrets) });
    }
    if (rows.length < pageRows) return;
  }
};

const sealRuns = async (tx: Executor, secrets: Secrets) => {
  for (let after = 0; ; ) {
    const rows = await runsAfter.all(tx, { after });
    for (const { id, definition, definitionSecrets } of rows) {
      after = id;
      const owner = { table: 'runs' as const, id, sealed: JSON.parse(definitionSecrets) as Sealed };
      const before = JSON.parse(definition) as { configuration?: ConfigurationEntry[] };
      const { configuration, configurationSecrets } = sealConfiguration(before.configuration ?? [], secrets, owner);
      if (Object.keys(configurationSecrets).length === Object.keys(owner.sealed).length) continue;
      const changed = { definition: JSON.stringify({ ...before, configuration }) };
      await setRun.all(tx, { id, ...changed, definitionSecrets: JSON.stringify(configurationSecrets) });
    }
    if (rows.length < pageRows) return;
  }
};

/** Seals headers and cookies of tasks and runs that a build before this one stored in clear. Done once. */
export const sealStoredSecrets = async (database: Database, secrets: Secrets) => {
  if ((await findMark.first(database, {})) !== undefined) return;
  await database.transaction(async (tx) => {
    await sealTasks(tx, secrets);
    await sealRuns(tx, secrets);
    await insertMark.all(tx, {});
  });
};
