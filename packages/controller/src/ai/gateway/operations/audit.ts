import type { api } from '@rushhour/contract';
import { cursorOf } from '../../../crud.ts';
import type { Handlers } from '../../../handler.ts';
import { auditPage } from '../../../store/ai/ai-audit.ts';
import type { Store } from '../../../store/store.ts';

const iso = (time: string | undefined) => (time === undefined ? undefined : new Date(time).toISOString());

/** The key's own activity only. */
export const auditHandlers = ({ store }: { store: Store }): Pick<Handlers<typeof api.aiGateway>, 'audit'> => ({
  audit: async ({ query }, { key }) => {
    const { count = 20, page = 1, order = 'desc', from, to, operationId, outcome } = query;
    const offset = (page - 1) * count;
    const operation = operationId?.replace(/^(?!aiGateway\.)/, 'aiGateway.');
    const wanted = { keyId: key.id, operation, outcome, from: iso(from), to: iso(to), limit: count, offset };
    const { total, data } = await auditPage(store.read, order, wanted);
    return { cursor: cursorOf(count, offset, total), data };
  },
});
