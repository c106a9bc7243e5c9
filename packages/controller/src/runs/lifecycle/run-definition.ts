import { fingerprintOf } from '../../canonical-json.ts';
import type { Secrets } from '../../store/engine/secrets.ts';
import type { RunDefinition, RunRecord } from '../../store/runs/runs.ts';
import type { StoredTask } from '../../store/tasks/tasks.ts';

/** Secrets in clear, by JSON pointer into the definition. */
export type PlainSecrets = Readonly<Record<string, string>>;

/** The definition of a task, with masks instead of its secrets. */
export const definitionOf = ({
  comment,
  accessPlane,
  controlPlane,
  configuration,
  dumps,
}: StoredTask): RunDefinition => ({
  ...{ comment, accessPlane, controlPlane, configuration, dumps },
});

/** Secrets of a run are sealed separately: those of the task may change. */
const columnOf = (runId: number, pointer: string) => ({
  table: 'runs',
  id: runId,
  column: `definitionSecrets${pointer}`,
});

export const sealSecrets = (plain: PlainSecrets, secrets: Secrets, runId: number) =>
  Object.fromEntries(
    Object.entries(plain).map(([pointer, value]) => [pointer, secrets.seal(value, columnOf(runId, pointer))]),
  );

const putAt = (root: unknown, pointer: string, value: string) => {
  const keys = pointer.split('/').slice(1);
  const last = keys.pop();
  const holder = keys.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], root);
  if (last !== undefined && typeof holder === 'object' && holder !== null) Object.assign(holder, { [last]: value });
};

/** A definition with its secrets in clear. Plans are made from it; it is never stored or shown. */
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
        secrets.open(sealed, columnOf(id, pointer)),
      ]),
    ),
  );

/** Equal for runs with the same behaviour, however it was written. Comments are ignored. */
export const definitionHash = ({ comment: _, ...definition }: RunDefinition) => fingerprintOf(definition);
