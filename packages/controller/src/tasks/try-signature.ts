import type { CveSignature, CveTestBody, TaskDraft } from '@rushhour/contract';
import { isConnected } from '@rushhour/contract';
import type { Caller } from '../caller.ts';
import { conflict, forbidden, type Issue, invalid } from '../errors.ts';
import { allows } from '../people/permissions.ts';
import type { Runs } from '../runs/lifecycle/create-runs.ts';
import { busyAgents } from '../store/agents/agent-work.ts';
import { agents } from '../store/agents/agents.ts';
import type { Origin } from '../store/engine/change.ts';
import { dropLinks } from '../store/engine/links.ts';
import { listAttackResults } from '../store/security/attack-results.ts';
import type { Store } from '../store/store.ts';
import { tasks } from '../store/tasks/tasks.ts';
import { createTask } from './records/write-task.ts';

interface Deps {
  readonly store: Store;
  readonly runs: Pick<Runs, 'check' | 'enqueue' | 'waitForEnd'>;
}

type OneShot = Pick<TaskDraft, 'comment' | 'configuration'>;

const pluginId = 16;

/** Tests one signature between two agents with a task of its own. */
export const testSignature = async (deps: Deps, signature: CveSignature, body: CveTestBody, caller: Caller) => {
  const { store, runs } = deps;
  assertIntrusive(signature, caller);
  await assertAgents(deps, body);
  const origin: Origin = { ...bare(caller) };
  const taskId = await store.change(origin, (tx) => createTask(tx, store.secrets, taskOf(signature, body)));
  const request = { taskId, userId: caller.userId, permissions: caller.permissions, by: 'user', body: {} } as const;
  const checked = await runs.check(request).catch(async (error) => {
    await store.change(origin, async (tx) => {
      await tasks.remove(tx, [taskId]);
      await dropLinks(tx, 'task', [taskId]);
    });
    throw error;
  });
  const { wait = 0 } = body;
  if (wait === 0) {
    return store.change(caller, async (tx) => {
      await runs.enqueue(tx, checked);
      return { data: { taskID: taskId } };
    });
  }
  const { runId } = await store.change(origin, (tx) => runs.enqueue(tx, checked));
  await runs.waitForEnd(runId, wait * 1000);
  const outcome = await outcomeOf(store, runId, signature.id);
  return store.change(caller, async () => ({ data: { taskID: taskId, ...(outcome !== undefined && { outcome }) } }));
};

const bare = ({ userId, address, requestId, operation }: Caller) => ({ userId, address, requestId, operation });

const assertIntrusive = ({ safety, name }: CveSignature, { permissions }: Caller) => {
  if (safety === 'benign' || allows(permissions, 'cve.runIntrusive')) return;
  throw forbidden('FORBIDDEN', `"${name}" is ${safety}: running it needs the permission cve.runIntrusive`, {
    permission: 'cve.runIntrusive',
  });
};

const assertAgents = async ({ store }: Deps, { clientAgentID, serverAgentID }: CveTestBody) => {
  const named = { clientAgentID, serverAgentID };
  const found = await agents.findMany(
    store.read,
    Object.values(named).filter((id) => id !== undefined),
  );
  const issues = Object.entries(named).flatMap(([member, id]): Issue[] => {
    const agent = found.find((candidate) => candidate.id === id);
    const issue = (code: string, message: string) => [{ path: `/${member}`, code, message }];
    if (id === undefined) return issue('REQUIRED', 'is required to run');
    if (agent === undefined) return issue('AGENT_UNKNOWN', `there is no agent ${id}`);
    return isConnected(agent.status) ? [] : issue('AGENT_OFFLINE', `agent ${agent.name} is not online`);
  });
  if (clientAgentID !== undefined && clientAgentID === serverAgentID) {
    issues.push({ path: '/serverAgentID', code: 'AGENTS_EQUAL', message: 'must be another agent than the client' });
  }
  if (issues.length > 0) throw invalid(issues);
  const busy = [...(await busyAgents(store.read))].find((id) => id === clientAgentID || id === serverAgentID);
  if (busy !== undefined) throw conflict('AGENT_BUSY', `agent ${busy} is busy`, { agentID: busy });
};

const taskOf = (signature: CveSignature, body: CveTestBody): OneShot => {
  const { clientAgentID = 0, serverAgentID = 0, target, networks = {}, variants, detection } = body;
  const network = (id: number | undefined) => (id === undefined ? {} : { network: { id } });
  const values = {
    sources: [{ agent: { id: clientAgentID }, ...network(networks.client) }],
    targets: [
      { agent: { id: serverAgentID }, ...(target !== undefined && { ip: target }), ...network(networks.server) },
    ],
    duration: { mode: 'count', count: 1 },
    cveReplayParams: {
      signatureIds: [signature.id],
      confirm: 1,
      benign: { enabled: false },
      allowIntrusive: signature.safety !== 'benign',
      ...(variants && { variants }),
      ...(detection && { detection }),
    },
  };
  const comment = `Test of signature ${signature.id}: ${signature.name}`.slice(0, 200);
  return { comment, configuration: [{ plugin: { id: pluginId }, values }] };
};

const worst = ['passed', 'inconclusive', 'error', 'modified', 'blocked', 'skipped'];

/** The worst outcome of the attempts; undefined without results. */
const outcomeOf = async ({ read }: Store, runID: number, refID: number) => {
  const { rows } = await listAttackResults(read, { filters: { runID, refID }, limit: 2000, offset: 0 });
  return worst.find((outcome) => rows.some((row) => row.outcome === outcome));
};
