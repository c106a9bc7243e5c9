import {
  DraftError,
  findMac,
  type Issue,
  isMulticastMac,
  issuesOf,
  type NetworkDraft,
  type PreviewQuery,
  previewPage,
} from '@rushhour/pools';
import { invalid } from '../../errors.ts';
import { macsById } from '../../store/assets/macs.ts';
import { macIdsOf } from '../../store/assets/networks.ts';
import type { Executor } from '../../store/engine/database.ts';

type Macs = Awaited<ReturnType<typeof macsById>>;

const macsOf = (executor: Executor, draft: NetworkDraft) => macsById(executor, [...new Set(macIdsOf(draft).values())]);

/** All problems of a draft, including its MAC records. */
export const networkIssues = async (executor: Executor, draft: NetworkDraft): Promise<Issue[]> => {
  const macs = await macsOf(executor, draft);
  return merged(issuesOf(draft, macs), unusedIssues(draft, macs));
};

export const assertValidNetwork = async (executor: Executor, draft: NetworkDraft) => {
  const errors = (await networkIssues(executor, draft)).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw invalid(errors.map(({ path, code, message }) => ({ path, code, message })));
};

/** One page of addresses and their MACs. The query takes precedence over the draft. */
export const readPage = async (executor: Executor, draft: NetworkDraft, query: PreviewQuery) => {
  const macs = await macsOf(executor, draft);
  const unused = unusedIssues(draft, macs);
  try {
    const page = previewPage(draft, macs, query);
    if (unused.length > 0) throw new DraftError(unused);
    return { ...page, rows: [...page.rows] };
  } catch (error) {
    if (!(error instanceof DraftError)) throw error;
    const issues = merged(error.issues, unused);
    throw invalid(issues.map(({ path, code, message }) => ({ path, code, message, ...originOf(path, query) })));
  }
};

/** The pools check only members that the present modes use; the others are stored too and must be valid. */
const unusedIssues = (draft: NetworkDraft, macs: Macs): Issue[] => {
  const issues = [...macIdsOf(draft)]
    .filter(([, id]) => !macs.has(id))
    .map(([path, id]) => errorAt(path, 'MAC_NOT_FOUND', `there is no MAC record ${id}`));
  if (draft.gatewayMac) {
    const mac = findMac(draft.gatewayMac);
    if (mac === undefined)
      issues.push(errorAt('/gatewayMac', 'MAC_INVALID', `"${draft.gatewayMac}" is not a MAC address`));
    else if (isMulticastMac(mac))
      issues.push(errorAt('/gatewayMac', 'MAC_MULTICAST', `${draft.gatewayMac} is multicast`));
  }
  return issues;
};

const errorAt = (path: string, code: string, message: string): Issue => ({ path, code, message, severity: 'error' });

const merged = (issues: readonly Issue[], more: readonly Issue[]) => {
  const known = new Set(issues.map(({ path, code }) => `${path} ${code}`));
  return [...issues, ...more.filter(({ path, code }) => !known.has(`${path} ${code}`))];
};

const originOf = (path: string, query: PreviewQuery) => {
  const name = path.slice(1);
  const isPaging = name === 'limit' || name === 'page' || name === 'start';
  return isPaging && (query[name] ?? undefined) !== undefined ? { in: 'query' as const } : {};
};
