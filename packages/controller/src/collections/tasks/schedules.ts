import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handlers.ts';
import type { Services } from '../index.ts';

const notBuilt = (): never => {
  throw new Error('not built yet');
};

export const scheduleHandlers = (
  _: Services,
): Pick<Handlers<typeof api.tasks>, 'schedules' | 'schedule' | 'unschedule'> => ({
  schedules: () => notBuilt(),
  schedule: () => notBuilt(),
  unschedule: () => notBuilt(),
});
