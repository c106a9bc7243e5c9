import { parseArgs } from 'node:util';
import { ConfigError, readConfig } from './config.ts';
import { takeCheckpoint, verifyAudit } from './store/engine/audit.ts';
import { openStoreReadOnly } from './store/store.ts';
import { readCheckpoints } from './store/system/audit-checkpoints.ts';

type ReadStore = Awaited<ReturnType<typeof openStoreReadOnly>>;

const usage = 'usage: rushhour audit verify [--checkpoints FILE …] | rushhour audit checkpoint';

/** Reads the whole chain of the configured database; 1 if it is broken. */
const verify = async (store: ReadStore, files: readonly string[]): Promise<number> => {
  const checkpoints = (await Promise.all(files.map(readCheckpoints))).flat();
  const { entries, broken } = await verifyAudit(store.read, store.secrets, checkpoints);
  const compared = checkpoints.length === 0 ? '' : `, ${checkpoints.length} checkpoints compared`;
  process.stdout.write(
    broken
      ? `broken at entry ${broken.id}: ${broken.reason}\n`
      : `the audit chain holds: ${entries} entries${compared}\n`,
  );
  return broken ? 1 : 0;
};

/** Prints the present state of the chain, to be kept outside of the database. */
const checkpoint = async (store: ReadStore): Promise<number> => {
  process.stdout.write(`${JSON.stringify(await takeCheckpoint(store.read, store.secrets))}\n`);
  return 0;
};

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { checkpoints: { type: 'string', multiple: true } },
  });
  const [command, ...more] = positionals;
  if (more.length > 0 || (command !== 'verify' && command !== 'checkpoint')) throw new ConfigError(usage);
  const config = readConfig(process.env);
  const files = values.checkpoints ?? (config.auditCheckpoints === undefined ? [] : [config.auditCheckpoints]);
  const store = await openStoreReadOnly(config);
  try {
    return command === 'verify' ? await verify(store, files) : await checkpoint(store);
  } finally {
    await store.close();
  }
};

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}
