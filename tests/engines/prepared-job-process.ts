/** Runs one job in its own process, starting at the time given by a line on stdin. Stops when stdin ends. */
import { createInterface } from 'node:readline';
import { describeHost, engines, RunningJob } from '@rushhour/agent';
import type { Job, Summary } from '@rushhour/protocol';

const job = JSON.parse(process.argv[2] ?? '{}') as Job;
const stop = new AbortController();
const { promise: startsAt, resolve } = Promise.withResolvers<number>();
createInterface({ input: process.stdin })
  .on('line', (line) => resolve(Number(line)))
  .on('close', () => stop.abort());
const summaries: Summary[] = [];
const running = new RunningJob(job, {
  engines,
  host: describeHost(),
  barrier: () => {
    console.log('prepared');
    return startsAt;
  },
  stop: stop.signal,
  onSummary: (summary) => summaries.push(summary),
});
const outcome = await running.outcome;
console.log(JSON.stringify({ outcome, summaries }));
process.exit();
