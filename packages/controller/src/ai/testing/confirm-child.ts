import { flushCompileCache } from 'node:module';
import { aiCaller } from './ai-caller.ts';
import { openApprovals } from './open-approvals.ts';

/** Confirms a token in a process of its own, which is killed at a step of the confirmation. */
const [storeOptions = '{}', token = '', killAt = ''] = process.argv.slice(2);
const { approvals } = await openApprovals(JSON.parse(storeOptions), (step) => {
  if (step === killAt) process.kill(process.pid, 'SIGKILL');
});
// A process that is killed leaves nothing behind for the next one, unless told to.
flushCompileCache();
await approvals.confirm(aiCaller(), { family: 'start', approvalToken: token });
