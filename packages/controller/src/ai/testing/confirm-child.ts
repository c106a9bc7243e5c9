import { createApprovalService } from '../../approval-service.ts';
import { planDictionaries } from '../../collections/dictionaries/plan-values.ts';
import { storeAgent } from '../../collections/tasks/testing/stored-agent.ts';
import { createTask } from '../../collections/tasks/write-task.ts';
import type { Config } from '../../config.ts';
import { startController } from '../../controller.ts';
import { createPlanner } from '../../runs/plan/create-planner.ts';
import { aiApprovals } from '../../store/ai-approvals.ts';
import { newestRunOf } from '../../store/runs.ts';
import { aiCaller } from './ai-caller.ts';

interface Order {
  config: Config;
  /** Asks for a start when there is no token yet. */
  token?: string;
  approvalId?: number;
  taskId?: number;
  /** The step of the confirmation at which the process is killed. */
  killAt?: string;
}

const order = JSON.parse(process.argv[2] ?? '{}') as Order;
const controller = await startController(order.config);
const { store, settings, bus, runs, files } = controller;
const planner = createPlanner({ store, settings, dictionaries: planDictionaries(files) });
const { approvals } = createApprovalService({
  ...{ store, settings, bus, runs, planner },
  onStep: (step) => {
    if (step === order.killAt) process.kill(process.pid, 'SIGKILL');
  },
});
const tell = (facts: object) => process.stdout.write(`${JSON.stringify(facts)}\n`);

if (order.token === undefined) {
  const id = await storeAgent(store);
  const ends = { sources: [{ agent: { id } }], targets: [{ agent: { id } }] };
  const values = { ...ends, requestsPerSecond: 10, duration: { mode: 'time', seconds: 60 } };
  const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };
  const taskId = await store.change(origin, (tx) =>
    createTask(tx, store.secrets, { configuration: [{ plugin: { id: 1 }, values }] } as never),
  );
  const { data } = await approvals.request(aiCaller(), {
    action: 'start',
    taskIds: [taskId],
    params: {},
    reason: 'test',
  });
  tell({ token: data.approvalToken, approvalId: data.approval.id, taskId });
} else {
  const { token, approvalId = 0, taskId = 0 } = order;
  const state = (await aiApprovals.find(store.read, approvalId))?.state;
  tell({ state, runs: (await newestRunOf(store.read, taskId))?.number ?? 0 });
  const outcome = await approvals
    .confirm(aiCaller(), { family: 'start', approvalToken: token })
    .then(({ data }) => data.approval.state)
    .catch(({ code }) => code);
  tell({ outcome, runs: (await newestRunOf(store.read, taskId))?.number ?? 0 });
}
await controller.close();
