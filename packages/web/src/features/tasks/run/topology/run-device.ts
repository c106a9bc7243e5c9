import type { Task } from '@rushhour/contract';

type Labels = Readonly<Record<string, string>>;

/** Vendor, model and version of the device under test, as far as a run has them. */
export const deviceDetailsOf = (labels: Labels): string =>
  ['deviceVendor', 'deviceModel', 'deviceVersion'].flatMap((name) => labels[name] ?? []).join(' ');

/** The device under test of a run in one line; empty when it has none. */
export const deviceNameOf = (labels: Labels): string =>
  [labels['device'] ?? '', deviceDetailsOf(labels)].filter(Boolean).join(' · ');

/** The labels that the device under test of a task gives to its runs. */
export const labelsOf = ({ device }: Pick<Task, 'device'>): Labels =>
  Object.fromEntries(
    Object.entries({
      device: device?.name,
      deviceVendor: device?.vendor,
      deviceModel: device?.model,
      deviceVersion: device?.version,
    }).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );

/** Labels of an earlier run for a new one; the device is what the task says now, if it says one. */
export const labelsToRepeat = ({ device }: Pick<Task, 'device'>, earlier: Labels): Labels =>
  device ? Object.fromEntries(Object.entries(earlier).filter(([name]) => !name.startsWith('device'))) : earlier;
