import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handlers.ts';
import type { Services } from '../index.ts';

const notBuilt = (): never => {
  throw new Error('not built yet');
};

export const pluginHandlers = (_: Services): Pick<Handlers<typeof api.tasks>, 'plugins' | 'plugin'> => ({
  plugins: () => notBuilt(),
  plugin: () => notBuilt(),
});
