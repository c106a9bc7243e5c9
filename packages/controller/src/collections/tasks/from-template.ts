import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handlers.ts';
import type { Services } from '../index.ts';

const notBuilt = (): never => {
  throw new Error('not built yet');
};

export const fromTemplateHandlers = (_: Services): Pick<Handlers<typeof api.tasks>, 'fromTemplate'> => ({
  fromTemplate: () => notBuilt(),
});
