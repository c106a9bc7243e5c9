import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handlers.ts';
import type { Services } from '../index.ts';

const notBuilt = (): never => {
  throw new Error('not built yet');
};

export const runControlHandlers = (
  _: Services,
): Pick<Handlers<typeof api.tasks>, 'start' | 'stop' | 'pause' | 'resume' | 'restart' | 'actions' | 'changeLoad'> => ({
  start: () => notBuilt(),
  stop: () => notBuilt(),
  pause: () => notBuilt(),
  resume: () => notBuilt(),
  restart: () => notBuilt(),
  actions: () => notBuilt(),
  changeLoad: () => notBuilt(),
});
