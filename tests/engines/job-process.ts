/**
 * Runs one job in its own process, so that it can be in another network namespace. Lines of stdin are commands for its
 * plane; from the first one on, every summary is printed as it comes. An empty line prints those before, too. Stops when
 * stdin ends.
 */
import { createInterface } from 'node:readline';
import type { Summary } from '@rushhour/protocol';
import { type JobOptions, startJob } from './job.ts';

let isWatched = false;
const earlier: Summary[] = [];
const print = (summary: Summary) => console.log(`summary ${JSON.stringify(summary)}`);
const job = startJob(JSON.parse(process.argv[2] ?? '{}') as JobOptions, (summary) => {
  if (isWatched) print(summary);
  else earlier.push(summary);
});
job.started.then(
  () => console.log('started'),
  () => {},
);
createInterface(process.stdin)
  .on('line', (line) => {
    isWatched = true;
    if (line === '') {
      for (const summary of earlier.splice(0)) print(summary);
      return;
    }
    const { rejected } = job.running.command(JSON.parse(line));
    if (rejected !== undefined) console.error(`${line}: ${rejected}`);
  })
  .on('close', () => void job.stop());
const { outcome, summaries } = await job.totals;
// A process that ends before its output is read cuts it off.
process.stdout.write(`${JSON.stringify({ outcome, summaries })}\n`, () => process.exit());
