import type { api } from '@rushhour/contract';
import type { Handlers } from '../handlers.ts';
import type { Services } from './index.ts';

const notBuilt = (): never => {
  throw new Error('not built yet');
};

export const taskTemplateHandlers = (_: Services): Handlers<typeof api.taskTemplates> => ({
  list: () => notBuilt(),
  create: () => notBuilt(),
  update: () => notBuilt(),
  removeMany: () => notBuilt(),
  get: () => notBuilt(),
  all: () => notBuilt(),
});
