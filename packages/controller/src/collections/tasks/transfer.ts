import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handlers.ts';
import type { Services } from '../index.ts';

const notBuilt = (): never => {
  throw new Error('not built yet');
};

export const transferHandlers = (
  _: Services,
): Pick<Handlers<typeof api.tasks>, 'exportPlan' | 'export' | 'importPlan' | 'import'> => ({
  exportPlan: () => notBuilt(),
  export: () => notBuilt(),
  importPlan: () => notBuilt(),
  import: () => notBuilt(),
});
