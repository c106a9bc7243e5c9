export type { Availability, Engine, Host, LoadChange } from './engine.ts';
export { engines } from './engines/index.ts';
export { describeHost } from './host.ts';
export { sweepLocalRoutes } from './net/local-routes.ts';
export { createSelfSigned } from './net/self-signed.ts';
export { defaultAllowedTargets } from './net/target-guard.ts';
export { parseConfig } from './prepare.ts';
export { type OrderDeps, type Outcome, RunningOrder } from './run.ts';
export { engineFlags } from './runs/engine-flags.ts';
