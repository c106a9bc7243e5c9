import type { Logger } from 'pino';
import { followSystemClock, systemClockStepMs } from '../../clock.ts';
import { activeRuns } from '../../store/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import type { RunWriter } from './run-writer.ts';

const everyMs = 1000;
/** Smaller changes are adjustments by NTP. */
const minStepMs = 300;

interface Deps {
  store: Store;
  writer: RunWriter;
  /** Whether this controller conducts the run. */
  owns(runId: number): boolean;
  log: Logger;
}

/**
 * The clock of runs follows the system clock while no run is active. A step of the system clock during a run does not
 * change the time of the run; it is recorded as an event of the run.
 */
export const startClockUpdates = ({ store, writer, owns, log }: Deps) => {
  let notedMs = systemClockStepMs();

  const noteStep = async (runIds: readonly number[], stepMs: number) => {
    const direction = stepMs > 0 ? 'forward' : 'back';
    const by = `${direction} by ${(Math.abs(stepMs) / 1000).toFixed(1)} s`;
    const message = `the system clock of the controller was set ${by}; the run continues on monotonic time`;
    log.warn({ stepMs, runIds }, message);
    for (const runId of runIds) {
      await writer.edit(runId, () => ({
        events: [{ type: 'clockStepped', severity: 'warning', source: 'controller', message }],
      }));
    }
  };

  const look = async () => {
    const active = await activeRuns(store.read);
    if (active.length === 0) followSystemClock();
    const stepMs = systemClockStepMs();
    if (Math.abs(stepMs - notedMs) < minStepMs) return;
    const change = stepMs - notedMs;
    notedMs = stepMs;
    await noteStep(active.map(({ id }) => id).filter(owns), change);
  };

  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look).catch((error) => log.error({ err: error }, 'could not check the system clock'));
  }, everyMs).unref();
  return {
    close: async () => {
      clearInterval(timer);
      await looking;
    },
  };
};
