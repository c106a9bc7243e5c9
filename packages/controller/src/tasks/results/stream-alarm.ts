import type { Bus } from '../../bus/local.ts';
import type { Metrics } from '../../metrics/metrics.ts';

const tickMs = 1000;

interface Sources {
  bus: Bus;
  metrics: Pick<Metrics, 'subscribe'>;
}

/** Wakes the followers of a task after possible changes and every second. */
export const createAlarm = ({ bus, metrics }: Sources, taskId: number, signal: AbortSignal) => {
  let ring = () => {};
  let leaveRun = () => {};
  let followed = 0;
  const unsubscribes = [
    bus.subscribe('task.status', ({ id }) => id === taskId && ring()),
    bus.subscribe('run.changed', ({ runId }) => runId === followed && ring()),
  ];
  signal.addEventListener('abort', () => ring(), { once: true });
  return {
    /** The run that is followed. */
    follow: (runId: number) => {
      if (runId === followed) return;
      leaveRun();
      followed = runId;
      leaveRun = metrics.subscribe(runId, () => ring());
    },
    /** Take it before reading, so that no change is missed between reading and waiting. */
    next: () =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, tickMs);
        ring = () => {
          clearTimeout(timer);
          resolve();
        };
        if (signal.aborted) ring();
      }),
    stop: () => {
      ring();
      leaveRun();
      for (const leave of unsubscribes) leave();
    },
  };
};
