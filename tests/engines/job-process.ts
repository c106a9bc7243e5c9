/** Runs one job in a process of its own, so that it can live in another network namespace. Ends when its input ends. */
import { type JobOptions, startJob } from './job.ts';

const job = startJob(JSON.parse(process.argv[2] ?? '{}') as JobOptions);
job.started.then(
  () => console.log('started'),
  () => {},
);
process.stdin.on('end', () => void job.stop()).resume();
const { outcome, summaries } = await job.totals;
console.log(JSON.stringify({ outcome, summaries }));
process.exit();
