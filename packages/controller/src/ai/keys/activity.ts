import type { api } from '@rushhour/contract';
import { cursorOf } from '../../crud.ts';
import type { Handlers } from '../../handler.ts';
import { aiApprovals, approvalView } from '../../store/ai/ai-approvals.ts';
import { auditPage } from '../../store/ai/ai-audit.ts';
import { verifyAudit } from '../../store/engine/audit.ts';
import type { Store } from '../../store/store.ts';

export interface ActivityDeps {
  store: Store;
}

type Activity = Handlers<typeof api.aiAdmin>['activity'];
type Query = Parameters<Activity>[0]['query'];

const iso = (time: string | undefined) => (time === undefined ? undefined : new Date(time).toISOString());

const chainOf = async (store: Store) => {
  const { entries, broken } = await verifyAudit(store.read);
  return { entries, isIntact: broken === undefined, brokenAt: broken?.id ?? null, reason: broken?.reason ?? '' };
};

/** What keys asked for and did, newest first. */
export const readActivity = ({ store }: ActivityDeps): Activity => {
  const approvalsOf = async (query: Query, limit: number, offset: number) => {
    const { keyId: keyID, state, risk, from, to, order = 'desc' } = query;
    const filters = { keyID, state, risk, from: iso(from), to: iso(to) };
    const { rows, total } = await aiApprovals.page(store.read, { key: 'id', order, limit, offset, filters });
    return { total, data: rows.map(approvalView) as Record<string, unknown>[] };
  };
  const auditOf = (query: Query, limit: number, offset: number) => {
    const { keyId, state, risk, from, to, order = 'desc' } = query;
    return auditPage(store.read, order, { keyId, outcome: state, risk, from: iso(from), to: iso(to), limit, offset });
  };
  return async ({ query }) => {
    const { kind, count = 20, page = 1, verify = false } = query;
    const offset = (page - 1) * count;
    const { total, data } = await (kind === 'approval' ? approvalsOf : auditOf)(query, count, offset);
    const cursor = cursorOf(count, offset, total);
    return verify ? { cursor, data, chain: await chainOf(store) } : { cursor, data };
  };
};
