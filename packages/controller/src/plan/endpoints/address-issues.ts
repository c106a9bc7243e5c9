import { parseAddress } from '@rushhour/pools';
import { type Endpoint, endpointsOf, type TrafficEntry } from '../core/load/traffic-entry.ts';
import type { PlannedClient } from '../core/plan-entry.ts';
import type { PlanAgent, PlanNetwork } from '../core/plan-input.ts';
import type { PlanIssues } from '../core/plan-issues.ts';
import { canUseStack, type StackDemands, writesFrames } from '../stack/stack-demand.ts';
import { addressesToAdd, isLoopback, isSameMachine, ownAddresses, versionOf } from './machine-addresses.ts';
import type { ClientSource } from './resolve-endpoint.ts';
import type { PlannedServer } from './servers.ts';

/** Entries without a stack leave Ethernet to the network card: MAC policies of their networks have no effect. */
export const reportNetworks = (
  entries: readonly TrafficEntry[],
  networks: ReadonlyMap<number, PlanNetwork>,
  { demands, issues }: { demands: StackDemands; issues: PlanIssues },
): void => {
  for (const entry of entries) {
    for (const member of ['sources', 'targets'] as const) {
      for (const [i, endpoint] of endpointsOf(entry, member).entries()) {
        const network = endpoint.network && networks.get(endpoint.network.id);
        if (network === undefined) continue;
        const path = `${entry.path}/values/${member}/${i}/network/id`;
        const hasMacs = demands.of(entry) !== undefined || writesFrames(entry);
        reportPolicy({ entry, endpoint, network, path, hasMacs }, issues);
      }
    }
  }
};

/** Sockets leave by the interface that the routes of the machine choose, unless it is the one with their address. */
export const reportInterfaces = (
  entries: readonly TrafficEntry[],
  agents: ReadonlyMap<number, PlanAgent>,
  { demands, issues }: { demands: StackDemands; issues: PlanIssues },
): void => {
  for (const entry of entries.filter((one) => canUseStack(one) && demands.of(one) === undefined)) {
    for (const member of ['sources', 'targets'] as const) {
      for (const [i, { agent: named, accessGroup, interfaceId, ip, network }] of endpointsOf(entry, member).entries()) {
        const agent = named && agents.get(named.id);
        const through = agent?.interfaces.find(({ id }) => id === interfaceId);
        const isOwn = through?.ips.some((address) => address.split('/')[0] === ip) ?? true;
        if (agent === undefined || accessGroup !== undefined || isOwn || (ip ?? network) === undefined) continue;
        const message = `agent ${agent.name} uses the interface that its routes choose: ask for emulated hosts, such as by a MAC policy, to use ${through?.name}`;
        issues.caveat(
          { path: `${entry.path}/values/${member}/${i}/interfaceId`, agentId: agent.id },
          'INTERFACE_NOT_USED',
          message,
        );
      }
    }
  }
};

interface Use {
  readonly entry: TrafficEntry;
  readonly endpoint: Endpoint;
  readonly network: PlanNetwork;
  readonly path: string;
  readonly hasMacs: boolean;
}

const reportPolicy = ({ entry, endpoint, network, path, hasMacs }: Use, issues: PlanIssues): void => {
  const mode = network.macPolicy?.mode ?? 'interface';
  if (endpoint.agent !== undefined && mode !== 'interface' && !hasMacs) {
    const message = `the MAC policy of network "${network.name}" is not followed: ${entry.plugin?.name} does not run on emulated hosts`;
    issues.caveat(path, 'MAC_POLICY_IGNORED', message);
  }
  const made = entry.values.l2PolicyVersion;
  if (made !== undefined && made !== network.l2PolicyVersion) {
    const message = `the MAC policy of network "${network.name}" has changed since the task was made`;
    issues.warning(path, 'L2_POLICY_CHANGED', message);
  }
};

/** Of several sources of one agent in one network, one speaks for all. */
const distinct = (clients: readonly PlannedClient[]): PlannedClient[] => {
  const bySource = new Map<string, PlannedClient>();
  for (const client of clients) {
    const { agent, source } = client;
    const key = `${agent.id} ${source.network?.id ?? source.addresses.addresses.join()}`;
    if (source.count > 0 && !bySource.has(key)) bySource.set(key, client);
  }
  return [...bySource.values()];
};

/** What two agents both send from, in words. */
const sharedBy = ({ source: one }: PlannedClient, { source: other }: PlannedClient): string | undefined => {
  if (one.network && other.network) {
    // Shares of the same network never meet.
    const isShared = one.network.id !== other.network.id && one.network.share.meets(other.network.share);
    return isShared ? `part of network ${other.network.id}` : undefined;
  }
  const [listed, endpoint] = one.network ? [other, one] : [one, other];
  return listed.addresses.addresses.find((address) => !isLoopback(address) && isIn(address, endpoint));
};

const isIn = (address: string, { version, network, addresses }: ClientSource): boolean => {
  if (network === undefined) return addresses.addresses.includes(address);
  return version === versionOf(address) && network.share.has(parseAddress(address).value);
};

/** Two machines that send from the same address get each other's answers. */
export const reportOverlaps = (clients: readonly PlannedClient[], issues: PlanIssues): void => {
  const all = distinct(clients);
  const networks = all.filter(({ source }) => source.network !== undefined);
  const byAddress = new Map<string, PlannedClient>();
  for (const client of all) {
    const known = client.source.addresses.addresses.flatMap((address) => byAddress.get(address) ?? []);
    const others = client.source.network ? networks.slice(0, networks.indexOf(client)) : [...known, ...networks];
    for (const other of others) reportOverlap(client, other, issues);
    if (client.source.network) continue;
    for (const address of client.source.addresses.addresses) byAddress.set(address, client);
  }
};

const reportOverlap = (client: PlannedClient, other: PlannedClient, issues: PlanIssues): void => {
  // Emulated hosts are compared by their jobs.
  if (isSameMachine(client.agent, other.agent) || (client.stack && other.stack)) return;
  const shared = sharedBy(client, other);
  if (shared === undefined) return;
  const message = `${shared} is used by agent ${other.agent.name} as well`;
  issues.error({ path: client.path, agentId: client.agent.id }, 'ADDRESS_OVERLAP', message);
};

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
    const { agent, path, stack } = client;
    if (stack !== undefined || mayClaim(agent) || !isForeign(client)) continue;
    const message = `agent ${agent.name} is not permitted to send from these addresses and uses its own`;
    issues.caveat({ path, agentId: agent.id }, 'ADDRESS_NOT_OWN', message);
  }
  for (const { agent, path, listens, stack } of servers) {
    const hosts = listens.filter((one) => one.frames === undefined).map(({ host }) => host);
    if (stack !== undefined || mayClaim(agent) || addressesToAdd(agent, hosts).length === 0) continue;
    const message = `agent ${agent.name} is not permitted to answer for addresses that none of its interfaces has`;
    issues.error({ path, agentId: agent.id }, 'ADDRESS_NOT_OWN', message);
  }
};
