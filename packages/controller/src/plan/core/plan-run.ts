import { AttemptFiles } from '../content/attempts.ts';
import { AddressBook } from '../endpoints/address-book.ts';
import { tellOverlaps } from '../endpoints/address-overlap.ts';
import { tellRights } from '../endpoints/address-rights.ts';
import { tellNetworks } from '../endpoints/network-issues.ts';
import { mostEndpoints } from '../endpoints/places.ts';
import { type PlannedServer, planServers } from '../endpoints/servers.ts';
import { TargetGuard } from '../endpoints/target-guard.ts';
import { planners } from '../plugins/index.ts';
import { tellAgents } from './agent-issues.ts';
import type { RunPlan } from './agent-plan.ts';
import { agentPlans } from './agent-plans.ts';
import { tellCapacity } from './capacity.ts';
import { tellCaptures } from './capture.ts';
import { tellDuration } from './durations.ts';
import { estimateOf } from './estimate.ts';
import { type Leaf, leavesOf, lengthOf } from './leaf.ts';
import { PlanBudget } from './plan-budget.ts';
import { type PlannedClient, planEntry } from './plan-entry.ts';
import type { PlanInput } from './plan-input.ts';
import { PlanIssues } from './plan-issues.ts';

const mostPlanBytes = 16 * 1024 * 1024;

/** Translates a task into what each agent does. Pure; everything that is wrong is told at once. */
export const planRun = (input: PlanInput): RunPlan => {
  const issues = new PlanIssues();
  const leaves = leavesOf(input.definition.configuration, (id) => planners.has(id), issues);
  const guard = new TargetGuard(input.allowedTargets, input.agentAddresses);
  const files = new AttemptFiles();
  const { clients, wishes } = planLeaves(input, leaves, { guard, issues, attempts: files });
  const servers = planServers(wishes, input.agents, issues);
  const plannedSec = plannedSeconds(clients, servers);
  const attempts = files.all;
  const agents = agentPlans(input, guard, { clients, servers, plannedSec, attempts });
  tellAll(input, { leaves, clients, servers, issues });
  for (const { agentId, orders } of agents) {
    if (JSON.stringify(orders).length <= mostPlanBytes) continue;
    issues.error(
      { path: '/configuration', agentId },
      'PLAN_TOO_LARGE',
      `more than ${mostPlanBytes} bytes for an agent`,
    );
  }
  const estimate = estimateOf(input, clients, { agents, plannedSec, attempts });
  const isLoadKnown = clients.every(({ figures }) => figures.txPps > 0);
  return { agents, plannedSec, notes: issues.notes, issues: issues.issues, estimate, isLoadKnown, attempts };
};

const planLeaves = (
  input: PlanInput,
  leaves: readonly Leaf[],
  { guard, issues, attempts }: { guard: TargetGuard; issues: PlanIssues; attempts: AttemptFiles },
) => {
  const book = new AddressBook(input.networks, leaves);
  const budget = new PlanBudget();
  const entries = leaves.map((leaf) => {
    tellDuration(leaf, issues);
    const scope = { input, issues, book, guard, budget, leaf, attempts };
    const planner = planners.get(leaf.pluginId) as NonNullable<ReturnType<typeof planners.get>>;
    return planEntry(scope, planner(scope));
  });
  return {
    clients: entries.flatMap((entry) => entry.clients),
    wishes: entries.flatMap((entry) => entry.wishes),
  };
};

/** Of the clients, or of the servers where there are none; null when one of them has no planned end. */
const plannedSeconds = (clients: readonly PlannedClient[], servers: readonly PlannedServer[]): number | null => {
  const leaves = (clients.length > 0 ? clients : servers).map(({ leaf }) => leaf);
  const ends = leaves.map((leaf) => leaf.startAfterSec + (lengthOf(leaf.values) ?? Number.POSITIVE_INFINITY));
  const last = Math.max(0, ...ends);
  return ends.length > 0 && Number.isFinite(last) ? Math.ceil(last) : null;
};

interface Planned {
  readonly leaves: readonly Leaf[];
  readonly clients: readonly PlannedClient[];
  readonly servers: readonly PlannedServer[];
  readonly issues: PlanIssues;
}

const tellAll = ({ definition, agents, networks }: PlanInput, { leaves, clients, servers, issues }: Planned): void => {
  tellPlanes(definition, issues);
  if (definition.dumps.enabled) {
    tellCaptures(
      [...clients, ...servers].map(({ agent }) => agent),
      issues,
    );
  }
  const cpuCores = ({ values }: Leaf) => (values['cpuCores'] as number | undefined) ?? 1;
  const senders = clients.map(({ agent, engine, leaf, path }) => ({ agent, engine, path, cpuCores: cpuCores(leaf) }));
  const answering = servers.map(({ agent, traffic: { engine }, leaf, path }) => ({
    agent,
    engine,
    path,
    cpuCores: cpuCores(leaf),
  }));
  tellAgents([...senders, ...answering], issues);
  tellNetworks(leaves, networks, issues);
  tellRights(clients, servers, issues);
  tellOverlaps(clients, issues);
  tellCapacity(clients, agents, issues);
  for (const { listens, path, agent } of servers) {
    if (listens.length <= mostEndpoints) continue;
    const message = `agent ${agent.name} would listen on more than ${mostEndpoints} addresses and ports`;
    issues.error({ path, agentId: agent.id }, 'TOO_MANY_TARGETS', message);
  }
};

const tellPlanes = ({ accessPlane, controlPlane }: PlanInput['definition'], issues: PlanIssues): void => {
  if (accessPlane.length > 0) {
    issues.error('/accessPlane', 'PLUGIN_UNAVAILABLE', 'no agent has an engine for the access plane');
  }
  if (controlPlane.length > 0) {
    issues.error('/controlPlane', 'PLUGIN_UNAVAILABLE', 'no agent has an engine for the control plane');
  }
};
