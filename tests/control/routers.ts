import type { ControlPlaneConfig } from '@rushhour/protocol';
import { onTestFinished } from 'vitest';
import { type JobProcess, type Side, startJobIn } from '../engines/namespaces.ts';

/** Starts emulated routers on one end of the cable; they are stopped with the test at the latest. */
export const startRouters = async (
  side: Side,
  profiles: ControlPlaneConfig['profiles'],
  count = 1,
): Promise<JobProcess> => {
  const interfaces = Array.from({ length: count }, () => [side.device]);
  const config: ControlPlaneConfig = { role: 'client', entry: 0, interfaces, profiles };
  const job = await startJobIn(side, { engine: 'plane.control', config, duration: { mode: 'continuous' } });
  onTestFinished(async () => {
    await job.stop().catch(() => {});
  });
  return job;
};
