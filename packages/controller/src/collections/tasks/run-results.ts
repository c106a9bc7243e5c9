import type { api } from '@rushhour/contract';
import type { Handlers } from '../../handlers.ts';
import type { Services } from '../index.ts';

const notBuilt = (): never => {
  throw new Error('not built yet');
};

export const runResultHandlers = (
  _: Services,
): Pick<
  Handlers<typeof api.tasks>,
  | 'status'
  | 'metrics'
  | 'stream'
  | 'events'
  | 'logs'
  | 'runs'
  | 'removeRuns'
  | 'run'
  | 'series'
  | 'runAgents'
  | 'dumps'
  | 'dump'
  | 'compare'
> => ({
  status: () => notBuilt(),
  metrics: () => notBuilt(),
  stream: () => notBuilt(),
  events: () => notBuilt(),
  logs: () => notBuilt(),
  runs: () => notBuilt(),
  removeRuns: () => notBuilt(),
  run: () => notBuilt(),
  series: () => notBuilt(),
  runAgents: () => notBuilt(),
  dumps: () => notBuilt(),
  dump: () => notBuilt(),
  compare: () => notBuilt(),
});
