import { enableCompileCache } from 'node:module';
import type { FromChild, Problem, ToChild } from './child-messages.ts';

// The process of one run. It generates all traffic, so that the agent stays responsive however busy or broken this
// process is. Argument: the folder of the compile cache.
enableCompileCache(process.argv[2]);
const { engines } = await import('../../engines/index.ts');
const { describeHost } = await import('../../machine/host.ts');
const { RunJobs, resolveFiles } = await import('./run-jobs.ts');

const exitGraceMs = 3000;
let jobs: InstanceType<typeof RunJobs> | undefined;
let silenceMs = Number.POSITIVE_INFINITY;
let lastMessageAt = performance.now();

const report = (message: FromChild) => {
  if (process.connected) process.send?.(message);
};

const exitGracefully = () => {
  // Exits after the last message was sent.
  process.send?.({ type: 'bye' }, undefined, {}, () => process.exit(0));
  setTimeout(() => process.exit(0), exitGraceMs);
};

/** Without the agent the traffic could not be stopped. */
const abandon = () => {
  jobs?.stop('abort');
  setTimeout(() => process.exit(1), exitGraceMs);
  void (jobs?.ended ?? Promise.resolve()).then(() => process.exit(1));
};

const prepare = (message: Extract<ToChild, { type: 'prepare' }>) => {
  silenceMs = message.silenceMs;
  const problems: Problem[] = [];
  const resolved = message.orders.map((order, index) => {
    try {
      return { ...order, config: resolveFiles(order.config, message.files) };
    } catch (error) {
      problems.push({ order: index, code: 'FILE_MISSING', message: (error as Error).message });
      return order;
    }
  });
  if (problems.length > 0) {
    report({ type: 'prepareFailed', problems });
    exitGracefully();
  } else {
    const { isCaptured, writesKeys = false, isDryRun = false } = message;
    jobs = new RunJobs(resolved, { engines, host: { ...describeHost(), isCaptured, writesKeys, isDryRun }, report });
    void jobs.ended.then(exitGracefully);
  }
};

const handle = (message: ToChild) => {
  lastMessageAt = performance.now();
  if (message.type === 'prepare') prepare(message);
  else if (message.type === 'start') jobs?.start(message.at);
  else if (message.type === 'changeLoad') jobs?.changeLoad(message.order, message.change);
  else if (message.type === 'command') jobs?.command(message.order, message.command);
  else if (message.type === 'stop') jobs?.stop(message.mode, message.orders);
  else if (message.type !== 'alive') jobs?.[message.type]();
};

process.on('message', (message) => handle(message as ToChild));
process.on('disconnect', abandon);
process.on('SIGTERM', () => jobs?.stop('graceful'));
// A terminal sends SIGINT to the agent as well, which then ends its runs.
process.on('SIGINT', () => {});
setInterval(() => {
  if (performance.now() - lastMessageAt > silenceMs) abandon();
}, 1000).unref();
