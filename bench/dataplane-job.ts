/** Runs one job in its own process and prints its counters of the steady seconds, in events per second. */
import { describeHost, engines, RunningJob } from '@rushhour/agent';
import type { Job, Summary } from '@rushhour/protocol';
import { warmUpSec } from './dataplane-contest.ts';

const { engine, config, stack, seconds } = JSON.parse(process.argv[2] ?? '{}') as Pick<
  Job,
  'engine' | 'config' | 'stack'
> & {
  seconds: number;
};
const stop = new AbortController();
process.stdin.on('end', () => stop.abort()).resume();

const totals: Record<string, number> = {};
const add = (name: string, amount: number) => {
  totals[name] = (totals[name] ?? 0) + amount;
};
let cpu = process.cpuUsage();
const onSummary = (summary: Summary) => {
  const { user, system } = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  if (summary.phase !== 'steady' || summary.spanMs < 900) return;
  add('ms', summary.spanMs);
  add('userUs', user);
  add('systemUs', system);
  for (const { counters } of summary.series) for (const [name, value] of Object.entries(counters)) add(name, value);
};

const job: Job = {
  runId: 1,
  epoch: 0,
  engine,
  config,
  duration: { mode: 'time', seconds: seconds + warmUpSec, count: 1, rampUpSec: 0, warmUpSec, rampDownSec: 0 },
  cpuCores: 1,
  ...(stack && { stack }),
};
const { outcome } = new RunningJob(job, {
  engines,
  host: describeHost(),
  barrier: async () => {
    console.log('started');
    return 0;
  },
  stop: stop.signal,
  onSummary,
});
const { error } = await outcome;
if (error !== undefined) throw new Error(error);
const perSecond = Object.entries(totals).map(([name, total]) => [name, (total * 1000) / (totals['ms'] ?? 1)]);
console.log(JSON.stringify(Object.fromEntries(perSecond)));
process.exit();
