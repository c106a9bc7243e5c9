import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cookieJar, createClient } from '@rushhour/client';
import { openStore, type Store } from '../packages/controller/src/store/store.ts';
import { startPostgres } from '../scripts/postgres.ts';
import { spawnController } from '../tests/process/spawn-controller.ts';

const admin = { email: 'bench@example.test', password: 'nine-Long-Bridges-hum' };

export type Database = 'sqlite' | 'postgres';

/** The database that the first argument names, or both. */
export const chosenDatabases = (['sqlite', 'postgres'] as const).filter(
  (name) => process.argv[2] === undefined || process.argv[2] === name,
);

/** Starts a controller whose store was filled before, with its administrator signed in. It ends with `open`. */
export const startFilled = async <Filled>(
  engine: Database,
  open: AsyncDisposableStack,
  fill: (store: Store) => Promise<Filled>,
) => {
  const dataDir = open.adopt(mkdtempSync(join(tmpdir(), 'rushhour-bench-')), (dir) => rmSync(dir, { recursive: true }));
  const postgres = engine === 'postgres' ? open.adopt(await startPostgres(), (it) => it.stop()) : undefined;
  const secretKey = randomBytes(32).toString('base64');
  const env = {
    RUSHHOUR_DATA_DIR: dataDir,
    RUSHHOUR_ADMIN_EMAIL: admin.email,
    RUSHHOUR_ADMIN_PASSWORD: admin.password,
    RUSHHOUR_SECRET_KEY: secretKey,
    ...(postgres && { DATABASE_URL: postgres.url }),
  };
  await (await spawnController(env)).kill('SIGTERM');
  const store = await openStore({ dataDir, databaseUrl: postgres?.url, secretKey: Buffer.from(secretKey, 'base64') });
  const filled = await fill(store);
  await store.close();
  const controller = open.adopt(await spawnController(env), (it) => void it.kill('SIGKILL'));
  const client = createClient(controller.url, cookieJar());
  await client.auth.login({ body: admin });
  await client.settings.update({ body: { limits: { rate: 100_000_000 } } });
  return { controller, client, filled };
};
