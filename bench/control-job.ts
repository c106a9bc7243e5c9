/** Runs the job of a file in its own process and prints its counters and gauges when stdin ends. */
import { readFileSync } from 'node:fs';
import { startJob } from '../tests/engines/job.ts';

const job = startJob(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')));
job.started.then(
  () => console.log('started'),
  () => {},
);
process.stdin.on('end', () => void job.stop()).resume();
const { outcome, counter, gauge } = await job.totals;
if (outcome.error !== undefined) throw new Error(outcome.error);
const flaps = counter('control.flaps');
console.log(JSON.stringify({ flaps, sessionsUp: gauge('control.sessionsUp') }));
process.exit();
