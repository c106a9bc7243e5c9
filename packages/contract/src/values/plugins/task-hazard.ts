import type { ConfigurationEntry } from '../../collections/task-fields.ts';
import { entriesOf } from './entries.ts';
import { accessPlane, controlPlane } from './planes.ts';

interface HazardousParts {
  readonly configuration: readonly ConfigurationEntry[];
  readonly accessPlane?: readonly unknown[] | undefined;
  readonly controlPlane?: readonly unknown[] | undefined;
}

/** How hazardous a task is: as its worst entry, those inside suites and its planes included. */
export const hazardOf = (task: HazardousParts): number =>
  Math.max(
    0,
    ...entriesOf(task.configuration).map(({ plugin }) => plugin?.hazard ?? 0),
    ...(task.accessPlane?.length ? [accessPlane.hazard] : []),
    ...(task.controlPlane?.length ? [controlPlane.hazard] : []),
  );
