import type { ValidationIssue } from '@rushhour/contract';
import type { AgentPlan, PlannedJob, RunPlan } from '../../plan/core/agent-plan.ts';
import type { RunDefinition } from '../../store/runs/runs.ts';
import type { Planner } from '../queue/planner.ts';

interface Endpoint {
  agent: { id: number };
}

interface Entry {
  plugin: { id: number };
  values: {
    sources?: Endpoint[];
    targets?: Endpoint[];
    duration?: { mode: 'time' | 'count' | 'continuous'; seconds?: number };
    requestsPerSecond?: number;
  };
}

const jobOf = ({ plugin, values }: Entry, entry: number, role: 'client' | 'server'): PlannedJob => {
  const { mode = 'time', seconds = 3 } = values.duration ?? {};
  const isServer = role === 'server';
  return {
    ...{ entry, pluginId: plugin.id, role, engine: 'http', target: '127.0.0.1:18080' },
    path: `/configuration/${entry}`,
    share: isServer ? 1 : 1 / (values.sources?.length ?? 1),
    job: {
      engine: 'http',
      config: { role },
      duration: {
        ...{ mode: isServer ? 'continuous' : mode, seconds, count: 1 },
        ...{ rampUpSec: 0, warmUpSec: 0, rampDownSec: 0 },
      },
      cpuCores: 1,
    },
    canPause: plugin.id !== 2,
    canChangeLoad: plugin.id === 1,
  };
};

/** A plan for tests: every source is a client, every target a server, in the order of their agents. */
export const scriptedPlanner = (): Planner & { issues: ValidationIssue[]; plans: number } => {
  const planner = {
    issues: [] as ValidationIssue[],
    plans: 0,
    plan: async ({ configuration }: RunDefinition): Promise<RunPlan> => {
      planner.plans += 1;
      const byAgent = new Map<number, PlannedJob[]>();
      (configuration as Entry[]).forEach((entry, index) => {
        const add = (endpoints: Endpoint[] = [], role: 'client' | 'server') => {
          for (const { agent } of endpoints) {
            byAgent.set(agent.id, [...(byAgent.get(agent.id) ?? []), jobOf(entry, index, role)]);
          }
        };
        add(entry.values.targets, 'server');
        add(entry.values.sources, 'client');
      });
      const agents = [...byAgent].map(([agentId, jobs]): AgentPlan => {
        const [first] = jobs;
        const isBoth = jobs.some(({ role }) => role !== first?.role);
        return { agentId, role: isBoth ? 'both' : (first?.role ?? 'client'), jobs, files: [], gateways: [] };
      });
      const durations = (configuration as Entry[]).map(({ values }) => values.duration ?? { mode: 'time', seconds: 3 });
      const isTimed = durations.every(({ mode }) => mode === 'time');
      return {
        agents,
        plannedSec: isTimed ? Math.max(...durations.map(({ seconds = 3 }) => seconds)) : null,
        notes: [],
        issues: planner.issues,
        estimate: {
          agents: agents.length,
          clientIps: 0,
          connections: 0,
          pps: 0,
          bps: 0,
          durationSec: null,
          dumpBytes: 0,
          attempts: 0,
        },
        isLoadKnown: true,
        attempts: [],
      };
    },
  };
  return planner;
};
