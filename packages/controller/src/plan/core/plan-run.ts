import { agentStatus, isConnected } from '@rushhour/contract';
import { AddressAllocator } from '../endpoints/address-allocator.ts';
import { reportInterfaces, reportNetworks, reportOverlaps, reportRights } from '../endpoints/address-issues.ts';
import { maxEndpoints } from '../endpoints/resolve-endpoint.ts';
import { type PlannedServer, planServers } from '../endpoints/servers.ts';
import { TargetGuard } from '../endpoints/target-guard.ts';
import { groupKey, type PlannedPlane, planPlanes } from '../planes/plan-planes.ts';
import { planners } from '../plugins/planners.ts';
import { StackDemands } from '../stack/stack-demand.ts';
import { reportHostOverlaps } from '../stack/stack-overlaps.ts';
import type { RunPlan } from './agent-plan.ts';
import { agentPlans } from './agent-plans.ts';
import { AttemptFiles } from './attempt-files.ts';
import { reportCaptures } from './capture.ts';
import { reportCapacity, runEstimateOf } from './load/capacity.ts';
import { reportDuration } from './load/durations.ts';
import { durationSecOf, type TrafficEntry, trafficEntriesOf } from './load/traffic-entry.ts';
import { type PlannedClient, planEntry } from './plan-entry.ts';
import type { PlanAgent, PlanInput } from './plan-input.ts';
import { type IssueLocation, PlanIssues } from './plan-issues.ts';
import { PlanBudget, type PlanScope } from './plan-scope.ts';
import type { Planner } from './planner.ts';
import { reportUnsupportedMembers } from './unsupported-members.ts';

/** What agents are asked for: which engine, by which part of the task. */
interface AgentUse {
  readonly agent: PlanAgent;
  readonly engine: string;
  readonly cpuCores: number;
  /** JSON pointer of the source or target. */
  readonly path: string;
}

/** An agent that is away is no fault of the task: a run waits for it. */
const reportAgents = (uses: readonly AgentUse[], issues: PlanIssues): void => {
  for (const { agent, engine, cpuCores, path } of uses) {
    const location = { path: `${path}/agent/id`, agentId: agent.id };
    if (agent.isBlocked) issues.error(location, 'AGENT_BLOCKED', `agent ${agent.name} is blocked`);
    else if (agent.status === agentStatus.incompatible) {
      issues.error(location, 'AGENT_INCOMPATIBLE', `agent ${agent.name} has an incompatible version`);
    } else if (!isConnected(agent.status))
      issues.warning(location, 'AGENT_OFFLINE', `agent ${agent.name} is not online`);
    reportEngine({ agent, engine }, location, issues);
    if (cpuCores > agent.cpuCores && agent.cpuCores > 0) {
      issues.warning(location, 'CPU_CORES', `agent ${agent.name} has ${agent.cpuCores} cores, not ${cpuCores}`);
    }
  }
};

const reportEngine = (
  { agent, engine }: Pick<AgentUse, 'agent' | 'engine'>,
  location: IssueLocation,
  issues: PlanIssues,
): void => {
  if (agent.status === agentStatus.enrolled && agent.engines.length === 0) return;
  const ability = agent.engines.find((found) => found.engine === engine);
  if (ability?.available) return;
  const reason = ability?.reason || 'it has no such engine';
  issues.error(location, 'ENGINE_MISSING', `agent ${agent.name} cannot run ${engine}: ${reason}`);
};

const maxPlanBytes = 16 * 1024 * 1024;

/** Translates a task into the jobs of each agent. Pure; all issues are reported at once. */
export const planRun = (input: PlanInput): RunPlan => {
  const issues = new PlanIssues();
  const entries = trafficEntriesOf(input.definition.configuration, planners, issues);
  const guard = new TargetGuard(input.allowedTargets, input.agentAddresses);
  const files = new AttemptFiles();
  const demands = new StackDemands(entries, input.networks);
  const { clients, requests } = planEntries(input, entries, { guard, issues, attempts: files, demands });
  const servers = planServers(requests, input.agents, issues);
  const trafficSec = clients.length + servers.length > 0 ? plannedSeconds(clients, servers) : undefined;
  const planes = planPlanes(input, { trafficSec, usedGroups: usedGroupsOf(clients), issues });
  const plannedSec = lastEnd(trafficSec, planes);
  const attempts = files.all;
  const agents = agentPlans(input, guard, { clients, servers, planes, plannedSec, attempts });
  reportAll(input, { entries, clients, servers, planes, demands, issues });
  for (const { agentId, jobs } of agents) {
    if (JSON.stringify(jobs).length <= maxPlanBytes) continue;
    issues.error({ path: '/configuration', agentId }, 'PLAN_TOO_LARGE', `more than ${maxPlanBytes} bytes for an agent`);
  }
  const estimate = runEstimateOf(input, clients, { agents, plannedSec, attempts });
  const isLoadKnown = clients.every(({ estimate }) => estimate.txPps > 0);
  return { agents, plannedSec, notes: issues.notes, issues: issues.issues, estimate, isLoadKnown, attempts };
};

const planEntries = (
  input: PlanInput,
  entries: readonly TrafficEntry[],
  { guard, issues, attempts, demands }: Pick<PlanScope, 'guard' | 'issues' | 'attempts' | 'demands'>,
) => {
  const allocator = new AddressAllocator(input.networks, entries, demands);
  const budget = new PlanBudget();
  const planned = entries.map((entry) => {
    reportDuration(entry, issues);
    const scope = { input, issues, allocator, guard, budget, entry, attempts, demands, stack: demands.of(entry) };
    const planner = planners.get(entry.pluginId) as Planner;
    reportUnsupportedMembers(scope, planner.plugin);
    return planEntry(scope, planner.plan(scope));
  });
  return {
    clients: planned.flatMap(({ clients }) => clients),
    requests: planned.flatMap(({ requests }) => requests),
  };
};

/** Of the clients, or of the servers where there are none; null when one of them has no planned end. */
const plannedSeconds = (clients: readonly PlannedClient[], servers: readonly PlannedServer[]): number | null => {
  const entries = (clients.length > 0 ? clients : servers).map(({ entry }) => entry);
  const ends = entries.map((entry) => entry.startAfterSec + (durationSecOf(entry.values) ?? Number.POSITIVE_INFINITY));
  const last = Math.max(0, ...ends);
  return ends.length > 0 && Number.isFinite(last) ? Math.ceil(last) : null;
};

const usedGroupsOf = (clients: readonly PlannedClient[]): Set<string> =>
  new Set(clients.flatMap(({ agent, stack }) => (stack?.sessions ? [groupKey(agent.id, stack.sessions.groupId)] : [])));

/** When traffic and planes have ended; null when one of them has no planned end. */
const lastEnd = (trafficSec: number | null | undefined, planes: readonly PlannedPlane[]): number | null => {
  const ends = planes.flatMap(({ job: { job, role } }) =>
    role === 'server' && trafficSec !== undefined ? [] : job.duration.mode === 'time' ? [job.duration.seconds] : [null],
  );
  const all = trafficSec === undefined ? ends : [trafficSec, ...ends];
  return all.length === 0 || all.includes(null) ? null : Math.ceil(Math.max(...(all as number[])));
};

interface Planned {
  readonly entries: readonly TrafficEntry[];
  readonly clients: readonly PlannedClient[];
  readonly servers: readonly PlannedServer[];
  readonly planes: readonly PlannedPlane[];
  readonly demands: StackDemands;
  readonly issues: PlanIssues;
}

const reportAll = (
  { definition, agents, networks }: PlanInput,
  { entries, clients, servers, planes, demands, issues }: Planned,
): void => {
  if (definition.dumps.enabled) {
    reportCaptures(
      [...clients, ...servers, ...planes].map(({ agent }) => agent),
      issues,
    );
  }
  const cpuCores = ({ values }: TrafficEntry) => values.cpuCores ?? 1;
  const senders = clients.map(({ agent, engine, entry, path }) => ({ agent, engine, path, cpuCores: cpuCores(entry) }));
  const answering = servers.map(({ agent, traffic: { engine }, entry, path }) => ({
    agent,
    engine,
    path,
    cpuCores: cpuCores(entry),
  }));
  const emulating = planes.map(({ agent, path, job: { engine } }) => ({ agent, engine, path, cpuCores: 1 }));
  reportAgents([...senders, ...answering, ...emulating], issues);
  reportNetworks(entries, networks, { demands, issues });
  reportInterfaces(entries, agents, { demands, issues });
  reportRights(clients, servers, issues);
  reportOverlaps(clients, issues);
  reportHostOverlaps([...servers, ...clients], issues);
  reportCapacity(clients, agents, issues);
  for (const { listens, path, agent } of servers) {
    if (listens.length <= maxEndpoints) continue;
    const message = `agent ${agent.name} would listen on more than ${maxEndpoints} addresses and ports`;
    issues.error({ path, agentId: agent.id }, 'TOO_MANY_TARGETS', message);
  }
};
