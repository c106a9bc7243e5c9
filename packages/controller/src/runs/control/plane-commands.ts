import { accessPlanePluginId, controlPlanePluginId, convergencePlugin, type PlaneCommand } from '@rushhour/contract';
import type { RunAgentRecord } from '../../store/runs/run-agents.ts';
import type { RunJob } from '../../store/tables/runs.ts';
import type { RunView } from '../lifecycle/run-view.ts';

const maxCommands = 1000;

const pluginIds = { access: accessPlanePluginId, control: controlPlanePluginId };

const isFor = ({ plane, index }: PlaneCommand, job: RunJob): boolean =>
  plane === 'configuration' ? job.entry === index : job.pluginId === pluginIds[plane] && job.planeEntry === index;

/** Adds commands to the jobs they are for. `outcomes` says for each command how many agents get it, or why none does. */
export const addCommands = ({ agents: before }: RunView, commands: readonly PlaneCommand[]) => {
  const agents = before.map((agent) => ({ ...agent }));
  const outcomes = commands.map((command) => {
    const owners = agents.filter(({ orders }) => orders.some((job) => isFor(command, job) && job.outcome === null));
    if (owners.length === 0) return { agents: 0, reason: 'no agent runs this entry' };
    if (owners.some(isFull)) return { agents: 0, reason: `a run takes ${maxCommands} commands for an agent` };
    for (const agent of agents) agent.orders = agent.orders.map((job) => withCommand(job, command));
    return { agents: owners.length, reason: '' };
  });
  return { outcomes, agents };
};

const isFull = ({ orders }: RunAgentRecord) =>
  orders.reduce((sum, { commands = [] }) => sum + commands.length, 0) >= maxCommands;

/** Receivers of convergence tests watch what the planes do. */
const observes = (job: RunJob): boolean =>
  job.pluginId === convergencePlugin.id && job.role === 'server' && job.outcome === null;

const withCommand = (job: RunJob, given: PlaneCommand): RunJob => {
  const isOwn = isFor(given, job);
  if (!isOwn && !observes(job)) return job;
  const { plane: _, index: __, ...command } = given;
  return { ...job, commands: [...(job.commands ?? []), isOwn ? command : { ...command, isObserved: true }] };
};
