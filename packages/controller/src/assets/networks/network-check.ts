import { setImmediate } from 'node:timers/promises';
import { createAddressSet, DraftError, findSubnet, type Issue, type NetworkDraft, overlapOf } from '@rushhour/pools';
import { findNetworkByName, networksMeeting } from '../../store/assets/networks.ts';
import type { Executor } from '../../store/engine/database.ts';
import { spanOf } from './network-columns.ts';
import { networkIssues } from './network-issues.ts';

interface CheckedDraft extends NetworkDraft {
  readonly id?: number | null;
  readonly name?: string | null;
}

type NetworkIssue = Issue & { networkID?: number };

const comparedLimit = 100;

/** Checks a draft before it is stored. Counts beyond 2^53 are rounded. */
export const checkNetwork = async (executor: Executor, draft: CheckedDraft) => {
  const [problems, names, overlaps] = await Promise.all([
    networkIssues(executor, draft),
    nameIssues(executor, draft),
    overlapIssues(executor, draft),
  ]);
  const issues: NetworkIssue[] = [...names, ...problems, ...overlaps];
  const subnet = findSubnet(draft.subnet);
  return {
    valid: issues.every(({ severity }) => severity === 'warning'),
    issues,
    size: subnet === undefined ? 0 : Number(subnet.last - subnet.first + 1n),
    usable: usableOf(draft),
  };
};

const usableOf = (draft: NetworkDraft) => {
  try {
    return Number(createAddressSet(draft).size);
  } catch (error) {
    if (error instanceof DraftError) return 0;
    throw error;
  }
};

const nameIssues = async (executor: Executor, { id, name }: CheckedDraft): Promise<NetworkIssue[]> => {
  const holder = name ? await findNetworkByName(executor, name) : undefined;
  if (holder === undefined || holder === id) return [];
  const message = 'is taken: another record has this name';
  return [{ path: '/name', code: 'DUPLICATE', message, severity: 'error', networkID: holder }];
};

/** Overlaps are often intended (the same plan behind several devices), so they are warnings. */
const overlapIssues = async (executor: Executor, draft: CheckedDraft): Promise<NetworkIssue[]> => {
  const subnet = findSubnet(draft.subnet);
  if (subnet === undefined) return [];
  const found = await networksMeeting(executor, spanOf(subnet), draft.id ?? 0, comparedLimit + 1);
  const issues: NetworkIssue[] = [];
  for (const network of found.slice(0, comparedLimit)) {
    issues.push(...overlapIssue(draft, network));
    // Comparing thousands of excludes takes milliseconds, so other requests run in between.
    await setImmediate();
  }
  if (found.length > comparedLimit) {
    const message = `more than ${comparedLimit} stored networks lie in this range; only the first were compared`;
    issues.push({ path: '/subnet', code: 'OVERLAP_UNCHECKED', message, severity: 'warning' });
  }
  return issues;
};

const overlapIssue = (draft: NetworkDraft, network: NetworkDraft & { id: number; name: string }): NetworkIssue[] => {
  const overlap = overlapOf(draft, network);
  if (overlap === undefined) return [];
  const { count, first, last } = overlap;
  const span = first === last ? first : `${first} to ${last}`;
  const message = `shares ${count} ${count === 1n ? 'address' : 'addresses'} (${span}) with network ${network.id} "${network.name}"`;
  return [{ path: '/subnet', code: 'OVERLAP', message, severity: 'warning', networkID: network.id }];
};
