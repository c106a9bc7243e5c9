/** Runs one job in its own process, so that it can be in another network namespace. Stops when stdin ends. */
import { type JobOptions, startJob } from './job.ts';

const job = startJob(JSON.parse(process.argv[2] ?? '{}') as JobOptions);
job.started.then(
  () => console.log('started'),
  () => {},
);
process.stdin.on('end', () => void job.stop()).resume();
const { outcome, summaries } = await job.totals;
// A process that ends before its output is read cuts it off.
process.stdout.write(`${JSON.stringify({ outcome, summaries })}\n`, () => process.exit());
