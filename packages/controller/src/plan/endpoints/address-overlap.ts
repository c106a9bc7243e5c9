import { parseAddress } from '@rushhour/pools';
import type { PlannedClient } from '../core/plan-entry.ts';
import type { PlanIssues } from '../core/plan-issues.ts';
import { isLoopback, isSameMachine, versionOf } from './machine-addresses.ts';
import type { ClientSource } from './resolve-endpoint.ts';

/** Of several sources of one agent in one network, one speaks for all. */
const distinct = (clients: readonly PlannedClient[]): PlannedClient[] => {
  const byPlace = new Map<string, PlannedClient>();
  for (const client of clients) {
    const { agent, source } = client;
    const key = `${agent.id} ${source.network?.id ?? source.addresses.addresses.join()}`;
    if (source.count > 0 && !byPlace.has(key)) byPlace.set(key, client);
  }
  return [...byPlace.values()];
};

/** What two agents both send from, in words. */
const sharedBy = ({ source: one }: PlannedClient, { source: other }: PlannedClient): string | undefined => {
  if (one.network && other.network) {
    // Shares of the same network never meet.
    const isShared = one.network.id !== other.network.id && one.network.share.meets(other.network.share);
    return isShared ? `part of network ${other.network.id}` : undefined;
  }
  const [listed, place] = one.network ? [other, one] : [one, other];
  return listed.addresses.addresses.find((address) => !isLoopback(address) && isIn(address, place));
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
  if (isSameMachine(client.agent, other.agent)) return;
  const shared = sharedBy(client, other);
  if (shared === undefined) return;
  const message = `${shared} is used by agent ${other.agent.name} as well`;
  issues.error({ path: client.path, agentId: client.agent.id }, 'ADDRESS_OVERLAP', message);
};
