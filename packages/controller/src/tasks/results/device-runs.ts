import type { DeviceRun, RunSummary } from '@rushhour/contract';
import type { Executor } from '../../store/engine/database.ts';
import { runsOfDevice } from '../../store/runs/run-devices.ts';
import { taskNameOf } from '../../store/tasks/tasks.ts';
import { isTelling } from './main-metric.ts';

/** Finished runs with a device, of all tasks, with their main metrics. */
export const readDeviceRuns = async (read: Executor, device: string): Promise<DeviceRun[]> =>
  (await runsOfDevice(read, device)).map(({ labels, summary, task, ...run }) => {
    const { entries = [] } = JSON.parse(summary) as { entries?: RunSummary };
    return {
      ...run,
      labels: JSON.parse(labels) as Record<string, string>,
      task: taskNameOf({ id: run.taskID, comment: task }),
      summary: entries.map((entry) => ({ ...entry, metrics: entry.metrics.filter(isTelling) })),
    };
  });
