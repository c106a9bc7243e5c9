import { enableCompileCache } from 'node:module';
import type { FromChild, Problem, ToChild } from './child-messages.ts';

// The process of one run. It makes all the traffic, so that however busy or broken it is, the agent itself is neither.
// Arguments: the folder for compiled code.
enableCompileCache(process.argv[2]);
const { engines } = await import('../../engines/index.ts');
const { describeHost } = await import('../../machine/host.ts');
const { RunJobs } = await import('./run-jobs.ts');
const { resolveFiles } = await import('./file-references.ts');

const farewellMs = 3000;
let jobs: InstanceType<typeof RunJobs> | undefined;
let silenceMs = Number.POSITIVE_INFINITY;
let heardAt = performance.now();

const report = (message: FromChild) => {
  if (process.connected) process.send?.(message);
};

const leave = () => {
  // What was sent must have left before the process may end.
  process.send?.({ type: 'bye' }, undefined, {}, () => process.exit(0));
  setTimeout(() => process.exit(0), farewellMs);
};

/** Without the agent nobody could stop the traffic. */
const abandon = () => {
  jobs?.stop('abort');
  setTimeout(() => process.exit(1), farewellMs);
  void (jobs?.ended ?? Promise.resolve()).then(() => process.exit(1));
};

const prepare = (message: Extract<ToChild, { type: 'prepare' }>) => {
  silenceMs = message.silenceMs;
  const problems: Problem[] = [];
  const resolved = message.orders.map((job, index) => {
    try {
      return { ...job, config: resolveFiles(job.config, message.files) };
    } catch (error) {
      problems.push({ order: index, code: 'FILE_MISSING', message: (error as Error).message });
      return job;
    }
  });
  if (problems.length > 0) {
    report({ type: 'prepareFailed', problems });
    leave();
  } else {
    jobs = new RunJobs(resolved, { engines, host: { ...describeHost(), isCaptured: message.isCaptured }, report });
    void jobs.ended.then(leave);
  }
};

const obey = (message: ToChild) => {
  heardAt = performance.now();
  if (message.type === 'prepare') prepare(message);
  else if (message.type === 'start') jobs?.start(message.at);
  else if (message.type === 'changeLoad') jobs?.changeLoad(message.order, message.change);
  else if (message.type === 'stop') jobs?.stop(message.mode, message.orders);
  else if (message.type !== 'alive') jobs?.[message.type]();
};

process.on('message', (message) => obey(message as ToChild));
process.on('disconnect', abandon);
process.on('SIGTERM', () => jobs?.stop('graceful'));
// From a terminal it reaches the agent as well, which then ends its runs.
process.on('SIGINT', () => {});
setInterval(() => {
  if (performance.now() - heardAt > silenceMs) abandon();
}, 1000).unref();
