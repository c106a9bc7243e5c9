import { limitText, measureText, runStatus, type Threshold } from '@rushhour/contract';
import { clockNow } from '../../clock.ts';
import type { RunView } from '../lifecycle/run-view.ts';
import type { RunWriter } from '../lifecycle/run-writer.ts';
import type { Steps } from '../lifecycle/steps.ts';
import { breachesOf, type MetricReader } from '../verdict/thresholds.ts';

/** Stops runs whose thresholds ask for an abort. */
export const createAbortWatch = (writer: RunWriter, steps: Steps, metrics: MetricReader) => async (view: RunView) => {
  const { run } = view;
  if (run.status !== runStatus.running || run.t0 === null) return;
  if (!run.thresholds.some(({ abortOnFail }) => abortOnFail === true)) return;
  const now = clockNow();
  const breaches = await breachesOf(run.id, run.thresholds, metrics, {
    elapsedSec: (now - run.t0 - run.pausedMs) / 1000,
    now: new Date(now).toISOString(),
  });
  if (breaches.length === 0) return;
  await writer.edit(run.id, () => ({
    events: breaches.map(({ index, actual }) => {
      const threshold = run.thresholds[index] as Threshold;
      const { name, operator, value } = threshold;
      return {
        type: 'thresholdBreached',
        severity: 'error' as const,
        source: 'controller',
        message: `${name}: ${measureText(threshold)} is ${actual}, required: ${limitText(operator, value)}`,
        data: { index, name, actual },
      };
    }),
  }));
  await steps.stop(view, { endStatus: runStatus.stopped, reason: 'threshold', error: '' });
};
