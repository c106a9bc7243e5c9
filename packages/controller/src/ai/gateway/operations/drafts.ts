import type { api } from '@rushhour/contract';
import { cursorOf, one, pageRequestOf } from '../../../crud.ts';
import type { Handlers } from '../../../handler.ts';
import { aiDrafts } from '../../../store/ai/ai-drafts.ts';
import type { Store } from '../../../store/store.ts';
import type { Drafts } from '../../drafts/drafts.ts';
import { partAt } from '../economy.ts';

interface Deps {
  store: Store;
  drafts: Drafts;
}

export const draftHandlers = ({
  store,
  drafts,
}: Deps): Pick<Handlers<typeof api.aiGateway>, 'createDraft' | 'drafts' | 'draft' | 'updateDraft' | 'removeDraft'> => ({
  createDraft: ({ body: { idempotencyKey: _, ...request } }, caller) => drafts.create(caller, request),
  drafts: async ({ query }, { key }) => {
    const request = pageRequestOf(query, 'id');
    const filters = { keyID: key.id, after: new Date().toISOString() };
    const { rows, total } = await aiDrafts.page(store.read, { ...request, filters });
    return { cursor: cursorOf(request.limit, request.offset, total), data: rows };
  },
  draft: async ({ params, query }, caller) => {
    const draft = await drafts.get(caller, params.id);
    return one({ ...draft, task: partAt(draft.task, query.path) });
  },
  updateDraft: ({ params, body: { idempotencyKey: _, ...patch } }, caller) => drafts.update(caller, params.id, patch),
  removeDraft: ({ params }, caller) => drafts.remove(caller, params.id),
});
