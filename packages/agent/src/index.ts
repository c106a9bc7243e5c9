export type { Availability, Engine, Host, LoadChange } from './engine.ts';
export { engines } from './engines/index.ts';
export { describeHost } from './machine/host.ts';
export { sweepLocalRoutes } from './net/addresses/local-routes.ts';
export { defaultAllowedTargets } from './net/addresses/resolve-targets.ts';
export { createSelfSigned } from './net/tls/self-signed.ts';
export { parseConfig } from './runs/job/prepare-job.ts';
export { type JobDeps, type Outcome, RunningJob } from './runs/job/running-job.ts';
export { engineFlags } from './runs/supervisor/run-child.ts';
