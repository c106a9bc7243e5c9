import { findPlugin } from '@rushhour/contract';
import type { NeededFile } from '@rushhour/protocol';
import { addressesToAdd } from '../endpoints/machine-addresses.ts';
import type { PlannedServer } from '../endpoints/servers.ts';
import type { TargetGuard } from '../endpoints/target-guard.ts';
import { labelOf } from '../endpoints/targets.ts';
import type { PlannedPlane } from '../planes/plan-planes.ts';
import type { AgentPlan, PlannedJob } from './agent-plan.ts';
import type { PlannedAttempts } from './attempt-files.ts';
import { captureOf } from './capture.ts';
import { serverDuration } from './load/durations.ts';
import type { PlannedClient } from './plan-entry.ts';
import type { PlanInput } from './plan-input.ts';

interface Sides {
  readonly clients: readonly PlannedClient[];
  readonly servers: readonly PlannedServer[];
  readonly planes: readonly PlannedPlane[];
  readonly plannedSec: number | null;
  readonly attempts: readonly PlannedAttempts[];
}

/** What each agent does: planes first, then servers, then clients. */
export const agentPlans = (input: PlanInput, guard: TargetGuard, sides: Sides): AgentPlan[] => {
  const byAgent = new Map<number, PlannedJob[]>();
  const add = (agentId: number, job: PlannedJob) => {
    const jobs = byAgent.get(agentId);
    if (jobs === undefined) byAgent.set(agentId, [job]);
    else jobs.push(job);
  };
  for (const { agent, job } of sides.planes) add(agent.id, job);
  for (const server of sides.servers) add(server.agent.id, serverJob(server, sides));
  for (const client of sides.clients) add(client.agent.id, clientJob(client, input, guard));
  const clientsOf = Map.groupBy(sides.clients, ({ agent }) => agent.id);
  const known = knownFiles(input, sides.attempts);
  const capture = captureOf(input.definition.dumps, input.dumpLimits, byAgent.size);
  return [...byAgent].map(([agentId, jobs]) => ({
    agentId,
    role: roleOf(jobs),
    jobs,
    files: filesOf(jobs, known),
    ...(capture && { capture }),
    gateways: gatewaysOf(clientsOf.get(agentId) ?? [], input),
  }));
};

const roleOf = (jobs: readonly PlannedJob[]): AgentPlan['role'] => {
  const roles = new Set(jobs.map(({ role }) => role));
  return roles.size === 2 ? 'both' : (jobs[0] as PlannedJob).role;
};

const clientJob = (client: PlannedClient, { allowedTargets }: PlanInput, guard: TargetGuard): PlannedJob => {
  const { entry, path, engine, config, duration, targets, share, hasRate, stack } = client;
  const plugin = findPlugin(entry.pluginId);
  return {
    entry: entry.index,
    path,
    pluginId: entry.pluginId,
    role: 'client',
    engine,
    target: labelOf(targets),
    share,
    canPause: plugin?.canPause ?? false,
    canChangeLoad: (plugin?.canChangeLoad ?? false) && hasRate,
    job: {
      engine,
      config,
      duration,
      ...(entry.startAfterSec > 0 && { startAfterSec: entry.startAfterSec }),
      allowedTargets: guard.listFor(
        [...targets.map(({ host }) => host), ...(stack?.tunnel?.ends ?? []).map(({ remote }) => remote)],
        allowedTargets,
      ),
      ...(stack && { stack }),
      cpuCores: entry.values.cpuCores ?? 1,
    },
  };
};

const serverJob = (server: PlannedServer, { clients, plannedSec }: Sides): PlannedJob => {
  const { entry, path, agent, traffic, config, listens, stack } = server;
  const isEmulated = traffic.isEmulated === true || stack !== undefined;
  const claimed = isEmulated ? [] : listens.filter(({ frames }) => frames === undefined);
  const claims = addressesToAdd(
    agent,
    claimed.map(({ host }) => host),
  );
  // Targets of one network share its description.
  const hosts = [...new Set(listens.flatMap(({ frames }) => frames ?? []))];
  const { listen = (endpoint) => endpoint } = traffic;
  // A task without clients lasts as long as its servers say.
  const { mode, seconds, count = 1, rampUpSec, warmUpSec, rampDownSec } = entry.values.duration;
  const own = {
    mode: mode === 'count' ? 'continuous' : mode,
    seconds,
    count,
    rampUpSec,
    warmUpSec,
    rampDownSec,
  } as const;
  return {
    entry: entry.index,
    path,
    pluginId: entry.pluginId,
    role: 'server',
    engine: traffic.engine,
    target: labelOf(listens),
    share: 1,
    canPause: true,
    canChangeLoad: false,
    job: {
      engine: traffic.engine,
      config: {
        ...config,
        ...(hosts.length > 0 && { hosts }),
        listen: listens.map(({ host, port }) => listen({ host, port })),
      },
      duration: clients.length > 0 ? serverDuration([...server.clients], plannedSec) : own,
      allowedTargets: [],
      ...(claims.length > 0 && { claims }),
      ...(stack && { stack }),
      cpuCores: entry.values.cpuCores ?? 1,
    },
  };
};

/** Asked by the kernel; emulated hosts ask their own gateways. One whose MAC is given need not answer. */
const gatewaysOf = (clients: readonly PlannedClient[], { networks }: PlanInput): string[] => {
  const ofKernel = clients.filter(({ stack }) => stack === undefined);
  const used = ofKernel.flatMap(({ source }) => (source.network && networks.get(source.network.id)) ?? []);
  const asked = used.filter(({ gatewayMacMode }) => !gatewayMacMode || gatewayMacMode === 'arp');
  return [...new Set(asked.flatMap(({ gateway }) => gateway || []))];
};

const copiesIn = (samples: PlanInput['samples']) => [...samples.values()].flatMap(({ copies }) => [...copies.values()]);

const scriptsIn = (recordings: PlanInput['recordings']) =>
  [...recordings.values()].flatMap((one) => ('client' in one ? [one.client, one.server] : []));

/** Sizes of all files of the run by their hash. */
const knownFiles = (
  { files, samples, recordings }: PlanInput,
  attempts: readonly PlannedAttempts[],
): ReadonlyMap<string, number> => {
  const all = [...files.values(), ...copiesIn(samples), ...scriptsIn(recordings), ...attempts];
  return new Map(all.map(({ sha256, size }) => [sha256, size]));
};

/** The files that configurations refer to, each once. */
const filesOf = (jobs: readonly PlannedJob[], known: ReadonlyMap<string, number>): NeededFile[] => {
  const named = new Set(jobs.flatMap(({ job }) => hashesIn(job.config)));
  return [...named].map((sha256) => ({ sha256, size: known.get(sha256) ?? 0 }));
};

const hashesIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  if ('$file' in value && typeof value.$file === 'string') return [value.$file];
  return Object.values(value).flatMap(hashesIn);
};
