import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handlers.ts';
import type { Services } from '../index.ts';

const notBuilt = (): never => {
  throw new Error('not built yet');
};

export const taskRecordHandlers = (
  _: Services,
): Pick<
  Handlers<typeof api.tasks>,
  | 'list'
  | 'create'
  | 'update'
  | 'removeMany'
  | 'get'
  | 'restore'
  | 'move'
  | 'clone'
  | 'counters'
  | 'thresholds'
  | 'setThresholds'
> => ({
  list: () => notBuilt(),
  create: () => notBuilt(),
  update: () => notBuilt(),
  removeMany: () => notBuilt(),
  get: () => notBuilt(),
  restore: () => notBuilt(),
  move: () => notBuilt(),
  clone: () => notBuilt(),
  counters: () => notBuilt(),
  thresholds: () => notBuilt(),
  setThresholds: () => notBuilt(),
});
