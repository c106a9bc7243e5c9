import type { Client } from '@rushhour/client/routes';
import type { Task, Threshold } from '@rushhour/contract';
import { secretMask, secretSlotsIn, taskReferences } from '@rushhour/contract';
import { stringify } from 'yaml';
import type { RecordNames } from './record-names.ts';
import { withNames } from './references.ts';
import { definitionOf } from './store-task.ts';

/** A task with everything a file says of it. */
export interface WholeTask {
  readonly comment: string;
  readonly projectID: number | null;
  readonly definition: Readonly<Record<string, unknown>>;
  readonly thresholds: readonly Threshold[];
}

export const readWholeTask = async (client: Client, task: Task): Promise<WholeTask> => {
  const { data: thresholds } = await client.tasks.thresholds({ params: { id: task.id } });
  const { comment, projectID } = task;
  return { comment, projectID, definition: definitionOf(task as never), thresholds };
};

type Parts = Parameters<typeof taskReferences>[0];

/** Whether the task holds secrets in clear, and the same task with them masked, as the controller shows it. */
export const maskSecrets = (definition: WholeTask['definition']) => {
  const copy = structuredClone(definition) as Parts;
  let hasSecrets = false;
  for (const { holder, member } of secretSlotsIn((copy.configuration ?? []) as never)) {
    const value = holder[member];
    if (typeof value !== 'string' || value === '' || value === secretMask) continue;
    holder[member] = secretMask;
    hasSecrets = true;
  }
  return { masked: copy as WholeTask['definition'], hasSecrets };
};

/** Members that say what is so anyway. */
const shortThreshold = ({ scope, window, ...rest }: Threshold) => {
  const defaults = { abortOnFail: false, delayAbortSec: 0, onNoData: 'fail', severity: 'fail' };
  const kept = Object.entries(rest).filter(([name, value]) => (defaults as Record<string, unknown>)[name] !== value);
  return {
    ...Object.fromEntries(kept),
    ...(scope && Object.keys(scope).length > 0 && { scope }),
    ...(window !== undefined && window !== 'steady' && { window }),
  };
};

const first = ['plugin', 'name', 'metric', 'aggregation', 'operator', 'value'];
const rank = (name: string) => `${first.includes(name) ? first.indexOf(name) : 'x'} ${name}`;

/** Members in one order, so that equal tasks have equal texts. */
const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1));
  return Object.fromEntries(members.map(([name, part]) => [name, ordered(part)]));
};

/** The text of a task file: names instead of ids, members in a fixed order, secrets masked. */
export const taskText = async (task: WholeTask, names: RecordNames): Promise<string> => {
  const { masked } = maskSecrets(task.definition);
  const definition = await withNames(masked, taskReferences(masked as Parts), names);
  const project = task.projectID === null ? undefined : await names.findName('project', task.projectID);
  return stringify(
    {
      comment: task.comment,
      ...(task.projectID !== null && { project: project ?? String(task.projectID) }),
      ...(ordered(definition) as object),
      ...(task.thresholds.length > 0 && { thresholds: ordered(task.thresholds.map(shortThreshold)) }),
    },
    { lineWidth: 120, aliasDuplicateObjects: false, sortMapEntries: false },
  );
};
