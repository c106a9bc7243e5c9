import { ConfigError, readConfig } from './config.ts';
import { verifyAudit } from './store/engine/audit.ts';
import { openStore } from './store/store.ts';

// `rushhour audit verify`: reads the whole chain of the configured database; ends with 1 when it is broken.
try {
  const store = await openStore(readConfig(process.env));
  const { entries, broken } = await verifyAudit(store.read);
  await store.close();
  process.stdout.write(
    broken ? `broken at entry ${broken.id}: ${broken.reason}\n` : `the audit chain holds: ${entries} entries\n`,
  );
  process.exitCode = broken ? 1 : 0;
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = error instanceof ConfigError ? 78 : 1;
}
