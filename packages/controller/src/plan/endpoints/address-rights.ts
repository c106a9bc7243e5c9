import type { PlannedClient } from '../core/plan-entry.ts';
import type { PlanAgent } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';
import { addressesToAdd } from './claims.ts';
import { isLoopback, ownAddresses } from './machine-addresses.ts';
import type { PlannedServer } from './servers.ts';

const neverSeen = 0;

/** Addresses that no interface has must be made the machine's own, which not every process may. */
const mayClaim = ({ system, status }: PlanAgent): boolean =>
  status === neverSeen || system.caps.includes('cap_net_admin');

const isForeign = ({ agent, source: { network, addresses } }: PlannedClient): boolean => {
  const own = ownAddresses(agent);
  const isNotOwn = (address: string) => !isLoopback(address) && !own.has(address);
  return network ? network.share.hosts(1).some(isNotOwn) : addresses.addresses.some(isNotOwn);
};

export const reportRights = (
  clients: readonly PlannedClient[],
  servers: readonly PlannedServer[],
  issues: PlanIssues,
): void => {
  for (const client of clients) {
    const { agent, path } = client;
    if (mayClaim(agent) || !isForeign(client)) continue;
    const message = `agent ${agent.name} has no right to send from these addresses and uses its own`;
    issues.caveat({ path, agentId: agent.id }, 'ADDRESS_NOT_OWN', message);
  }
  for (const { agent, path, listens } of servers) {
    const hosts = listens.map(({ host }) => host);
    if (mayClaim(agent) || addressesToAdd(agent, hosts).length === 0) continue;
    const message = `agent ${agent.name} has no right to answer for addresses that no interface of it has`;
    issues.error({ path, agentId: agent.id }, 'ADDRESS_NOT_OWN', message);
  }
};
