import { fingerprintOf } from '../../canonical-json.ts';
import type { Secrets } from '../../store/engine/secrets.ts';
import type { RunDefinition, RunRecord } from '../../store/runs/runs.ts';
import type { StoredTask } from '../../store/tasks/tasks.ts';

/** Secrets in clear, by JSON pointer into the definition. */
export type PlainSecrets = Readonly<Record<string, string>>;

/** What a task does; masks stand where its secrets belong. */
export const definitionOf = ({
  comment,
  accessPlane,
  controlPlane,
  configuration,
  dumps,
}: StoredTask): RunDefinition => ({
  ...{ comment, accessPlane, controlPlane, configuration, dumps },
});

/** Secrets of a run are sealed for it alone: the task may get others. */
const placeOf = (runId: number, pointer: string) => ({
  table: 'runs',
  id: runId,
  column: `definitionSecrets${pointer}`,
});

export const sealSecrets = (plain: PlainSecrets, secrets: Secrets, runId: number) =>
  Object.fromEntries(
    Object.entries(plain).map(([pointer, value]) => [pointer, secrets.seal(value, placeOf(runId, pointer))]),
  );

const putAt = (root: unknown, pointer: string, value: string) => {
  const keys = pointer.split('/').slice(1);
  const last = keys.pop();
  const holder = keys.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], root);
  if (last !== undefined && typeof holder === 'object' && holder !== null) Object.assign(holder, { [last]: value });
};

/** A definition with its secrets where they belong. Plans are made from it; it is never stored or shown. */
export const withSecrets = (definition: RunDefinition, plain: PlainSecrets): RunDefinition => {
  const copy = structuredClone(definition);
  for (const [pointer, value] of Object.entries(plain)) putAt(copy, pointer, value);
  return copy;
};

export const openDefinition = ({ id, definition, definitionSecrets }: RunRecord, secrets: Secrets): RunDefinition =>
  withSecrets(
    definition,
    Object.fromEntries(
      Object.entries(definitionSecrets).map(([pointer, sealed]) => [
        pointer,
        secrets.open(sealed, placeOf(id, pointer)),
      ]),
    ),
  );

/** The same for runs that did the same, however it was written down. Comments do not count. */
export const definitionHash = ({ comment: _, ...definition }: RunDefinition) => fingerprintOf(definition);
