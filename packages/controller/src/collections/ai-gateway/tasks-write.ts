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

export const taskWriteHandlers = (_: Deps): Pick<Handlers<typeof api.aiGateway>, 'validateTask' | 'createTask'> => ({
  validateTask: notYet,
  createTask: notYet,
});
