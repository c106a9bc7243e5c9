import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Database } from '../engine/database.ts';
import type { Secrets } from '../engine/secrets.ts';
import { statement } from '../engine/statement.ts';

const name = 'agentChannelKey';
const location = { table: 'installation', id: name, column: 'value' };

const insert = statement((db, p: { value: string }) =>
  db
    .insertInto('installation')
    .values({ name, value: p.value })
    .onConflict((c) => c.doNothing()),
);
const find = statement((db, _: object) => db.selectFrom('installation').select('value').where('name', '=', name));

/** The Ed25519 key that proves this installation to its agents, created at its first start and encrypted at rest. */
export const loadInstallationKey = async (database: Database, secrets: Secrets): Promise<KeyObject> => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const created = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  await database.transaction((tx) => insert.all(tx, { value: secrets.seal(created, location) }));
  return createPrivateKey(secrets.open((await find.first(database, {}))?.value ?? '', location));
};
