/**
 * Runs one job in its own process, so that it can be in another network namespace. Lines of stdin are commands for its
 * plane; from the first one on, or from the start for a job that is watched, every summary is printed as it comes. Stops
 * when stdin ends.
 */
import { createInterface } from 'node:readline';
import { type JobOptions, startJob } from './job.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as JobOptions;
let isWatched = options.isWatched ?? false;
const job = startJob(options, (summary) => {
  if (isWatched) console.log(`summary ${JSON.stringify(summary)}`);
});
job.started.then(
  () => console.log('started'),
  () => {},
);
createInterface(process.stdin)
  .on('line', (line) => {
    isWatched = true;
    const { rejected } = job.running.command(JSON.parse(line));
    if (rejected !== undefined) console.error(`${line}: ${rejected}`);
  })
  .on('close', () => void job.stop());
const { outcome, summaries } = await job.totals;
// A process that ends before its output is read cuts it off.
process.stdout.write(`${JSON.stringify({ outcome, summaries })}\n`, () => process.exit());
