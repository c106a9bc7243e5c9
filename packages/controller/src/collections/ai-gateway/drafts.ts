import type { api } from '@rushhour/contract';
import { unavailable } from '../../errors.ts';
import type { Handlers } from '../../handlers.ts';
import type { Store } from '../../store/index.ts';

interface Deps {
  store: Store;
}

const notYet = (): never => {
  throw unavailable('NOT_IMPLEMENTED', 'not available yet');
};

export const draftHandlers = (
  _: Deps,
): Pick<Handlers<typeof api.aiGateway>, 'createDraft' | 'drafts' | 'draft' | 'updateDraft' | 'removeDraft'> => ({
  createDraft: notYet,
  drafts: notYet,
  draft: notYet,
  updateDraft: notYet,
  removeDraft: notYet,
});
