import { runCrashes } from '../tests/process/crash.ts';
import { startPostgres } from './postgres.ts';

// `npm run crash [rounds]`: SIGKILL in the middle of writes, 50 rounds on each database.
const rounds = Number(process.argv[2] ?? 50);
let failed = 0;

const report = async (engine: string, databaseUrl?: string) => {
  const { acknowledged, lost, audit } = await runCrashes(rounds, databaseUrl);
  const chain = audit.broken ? `broken at ${audit.broken.id}: ${audit.broken.reason}` : 'verifies';
  console.log(
    `${engine}: ${rounds} kills, ${acknowledged} acknowledged records, ${lost} lost; audit chain of ${audit.entries} entries ${chain}`,
  );
  if (lost > 0 || audit.broken || acknowledged === 0) failed += 1;
};

await report('sqlite');
const cluster = await startPostgres({ isDurable: true });
await report('postgres', cluster.url);
await cluster.stop();
process.exit(failed === 0 ? 0 : 1);
