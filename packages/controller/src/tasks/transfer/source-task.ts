import type { Store } from '../../store/store.ts';
import { findTask, openedConfiguration } from '../../store/tasks/tasks.ts';
import { valueAt, withValues } from './json-pointer.ts';
import type { PortableTask } from './portable-task.ts';

/** A stored task as it leaves. */
export interface SourceTask {
  readonly id: number;
  /** Without its secrets. */
  readonly task: PortableTask;
  readonly secretCount: number;
  /** In clear, by the JSON pointer into the task where they belong. */
  openSecrets(): Record<string, string>;
}

export const readSourceTask = async (store: Store, id: number): Promise<SourceTask | undefined> => {
  const stored = await findTask(store.read, id);
  if (stored === undefined) return undefined;
  const { comment, accessPlane, controlPlane, configuration, dumps, thresholds } = stored;
  const whole = { comment, accessPlane, controlPlane, configuration, dumps, thresholds };
  const paths = Object.keys(stored.configurationSecrets);
  return {
    id,
    task: withValues(
      whole,
      paths.map((path) => [path, undefined] as const),
    ),
    secretCount: paths.length,
    openSecrets: () => {
      const opened = { configuration: openedConfiguration(stored, store.secrets) };
      return Object.fromEntries(paths.map((path) => [path, String(valueAt(opened, path))]));
    },
  };
};
