import { invalid, notFound } from '../../errors.ts';
import type { AgentRow } from '../../store/agents.ts';
import { files as fileTable } from '../../store/files.ts';
import type { ActionDeps } from './actions.ts';
import { type Operation, reportOperation } from './operation-report.ts';

interface Package {
  sha256: string;
  size: number;
  version: string;
}

const installMs = 600_000;
const returnMs = 120_000;

const nameOf = (version: string) => `rushhour-agent-${version}.tgz`;
const versionIn = (name: string) => /^rushhour-agent-(\d+\.\d+\.\d+)\.tgz$/.exec(name)?.[1] ?? '';

/** The stored file an upgrade is made from, by its id or by the version in its name. */
export const findPackage = async (
  { store }: ActionDeps,
  { fileId, version }: { fileId?: number; version?: string },
): Promise<Package> => {
  if (fileId === undefined && version === undefined) {
    throw invalid([{ path: '/params', code: 'REQUIRED', message: 'must name a fileId or a version' }]);
  }
  if (fileId !== undefined) {
    const file = await fileTable.find(store.read, fileId);
    if (file === undefined) throw notFound('file', fileId);
    if (file.state !== 'ready' || file.category === 'malware') {
      throw invalid([{ path: '/params/fileId', code: 'NOT_READY', message: 'is not a file that can be used' }]);
    }
    return { sha256: file.sha256, size: file.size, version: version ?? versionIn(file.name) };
  }
  const name = nameOf(version as string);
  const { rows } = await fileTable.page(store.read, { key: 'id', order: 'desc', limit: 100, offset: 0, search: name });
  const file = rows.find((row) => row.name === name && row.state === 'ready' && row.category !== 'malware');
  if (file) return { sha256: file.sha256, size: file.size, version: version as string };
  throw invalid([{ path: '/params/version', code: 'NO_PACKAGE', message: `there is no file ${name}` }]);
};

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

const upgradeOne = async (deps: ActionDeps, { id }: AgentRow, bundle: Package) => {
  const { gateway } = deps.agents;
  const presence = gateway.find(id);
  const returned = comeBack(deps, id, presence?.bootId);
  returned.catch(() => {});
  gateway.setUpgrading(id, true);
  try {
    await gateway.ask(id, { kind: 'upgrade', ...bundle }, installMs);
    await returned;
  } finally {
    gateway.setUpgrading(id, false);
  }
};

/** Upgrades agents, all at once, and tells who asked how it went. Never throws. */
export const upgradeAgents = async (
  deps: ActionDeps,
  operation: Operation,
  agents: readonly AgentRow[],
  bundle: Package,
) => {
  const outcomes = await Promise.allSettled(agents.map((agent) => upgradeOne(deps, agent, bundle)));
  const failed = outcomes.flatMap((outcome, i) =>
    outcome.status === 'rejected' ? [`"${agents[i]?.name}": ${(outcome.reason as Error).message}`] : [],
  );
  const message = `Upgrade of ${agents.length} agents: ${agents.length - failed.length} done${failed.length > 0 ? `; failed: ${failed.join('; ')}` : ''}`;
  const severity = failed.length > 0 ? 'error' : 'info';
  const [first] = agents;
  const entity = agents.length === 1 && first ? { entity: { type: 'agent', id: first.id } } : {};
  await reportOperation(deps, operation, { severity, kind: 'agent.upgrade', message, ...entity }).catch((error) =>
    deps.agents.log.error({ err: error }, 'an upgrade could not be reported'),
  );
};
