import { type AgentRow, agents as table } from '../store/agents/agents.ts';
import type { AgentPackage } from './agent-package.ts';
import { type ActionDeps, type Operation, reportOperation } from './operation-report.ts';

const installMs = 600_000;
const returnMs = 120_000;

/** Resolves when the agent is back as a new process. */
const comeBack = ({ agents: { gateway } }: ActionDeps, agentId: number, bootId: string | undefined) =>
  new Promise<void>((resolve, reject) => {
    const finish = (act: () => void) => {
      clearTimeout(timer);
      end();
      act();
    };
    const timer = setTimeout(() => finish(() => reject(new Error('it did not come back'))), returnMs);
    const end = gateway.subscribe({
      connected: (id, arrival) => {
        if (id === agentId && arrival.bootId !== bootId) finish(resolve);
      },
    });
  });

const upgradeOne = async (deps: ActionDeps, { id }: AgentRow, bundle: AgentPackage) => {
  const { gateway } = deps.agents;
  const presence = gateway.find(id);
  const returned = comeBack(deps, id, presence?.bootId);
  returned.catch(() => {});
  gateway.setUpgrading(id, true);
  try {
    await gateway.ask(id, { kind: 'upgrade', ...bundle }, installMs);
    await returned;
    // One that does not get along with the new version goes back to the old by itself.
    const version = (await table.find(deps.store.read, id))?.version;
    if (version !== bundle.version) throw new Error(`it came back as version ${version}`);
  } finally {
    gateway.setUpgrading(id, false);
  }
};

/** Upgrades agents, all at once, and tells who asked how it went. Never throws. */
export const upgradeAgents = async (
  deps: ActionDeps,
  operation: Operation,
  agents: readonly AgentRow[],
  bundle: AgentPackage,
) => {
  const outcomes = await Promise.allSettled(agents.map((agent) => upgradeOne(deps, agent, bundle)));
  const failed = outcomes.flatMap((outcome, i) =>
    outcome.status === 'rejected' ? [`"${agents[i]?.name}": ${(outcome.reason as Error).message}`] : [],
  );
  const message = `Upgrade of ${agents.length} agent${agents.length === 1 ? '' : 's'}: ${agents.length - failed.length} done${failed.length > 0 ? `; failed: ${failed.join('; ')}` : ''}`;
  const severity = failed.length > 0 ? 'error' : 'info';
  const [first] = agents;
  const entity = agents.length === 1 && first ? { entity: { type: 'agent', id: first.id } } : {};
  await reportOperation(deps, operation, { severity, kind: 'agent.upgrade', message, ...entity }).catch((error) =>
    deps.agents.log.error({ err: error }, 'an upgrade could not be reported'),
  );
};
