import { join } from 'node:path';
import { runCrashes } from '../tests/process/crash.ts';
import { bundlePrograms } from './bundle-programs.ts';
import { startPostgres } from './postgres.ts';
import { root } from './run.ts';

// `npm run crash [kills] [sqlite|postgres]`: SIGKILL in the middle of writes, 1,000 times on each database. SIGTERM ends it
// early, with the report of the kills so far.
const kills = Number(process.argv[2] ?? 1000);
const only = process.argv[3];
let failed = 0;
let isEnding = false;
process.once('SIGTERM', () => {
  isEnding = true;
});

// A bundle starts with a fraction of the work, and a start is most of a round.
const bundles = join(root, 'node_modules/.rushhour-bundles');
await bundlePrograms(bundles);
process.env['RUSHHOUR_TEST_BUNDLES'] = bundles;

const report = async (engine: string, databaseUrl?: string) => {
  const { acknowledged, lost, audit, ...done } = await runCrashes(kills, databaseUrl, (count, soFar) => {
    if (count > 0 && count % 50 === 0)
      console.log(`${engine}: ${count} of ${kills} kills, lost so far: ${soFar.join(', ') || 'nothing'}`);
    return !isEnding;
  });
  const chain = audit.broken ? `broken at ${audit.broken.id}: ${audit.broken.reason}` : 'verifies';
  const counts = Object.entries(acknowledged).map(([name, count]) => `${count} ${name}`);
  console.log(
    `${engine}: ${done.kills} kills, acknowledged ${counts.join(', ')}; lost: ${lost.join(', ') || 'nothing'}; audit chain of ${audit.entries} entries ${chain}`,
  );
  const isIdle = Object.values(acknowledged).some((count) => count === 0);
  if (lost.length > 0 || audit.broken || isIdle) failed += 1;
};

if (only !== 'postgres') await report('sqlite');
if (only !== 'sqlite' && !isEnding) {
  const cluster = await startPostgres({ isDurable: true });
  await report('postgres', cluster.url);
  await cluster.stop();
}
process.exit(failed === 0 ? 0 : 1);
