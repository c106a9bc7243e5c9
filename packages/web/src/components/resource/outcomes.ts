import { type Item, idOf, nameOf } from './resource.ts';

interface Outcome {
  id: number;
  ok: boolean;
  error?: string;
}

/** The failed records of a bulk operation; none when the reply has no outcome per record. */
export const failuresIn = (reply: unknown): Outcome[] => {
  const data = (reply as { data?: unknown } | undefined)?.data;
  return Array.isArray(data) ? data.filter((one): one is Outcome => one?.ok === false) : [];
};

/** One line per failure, with the name of the record. */
export const linesOf = (failures: readonly Outcome[], items: readonly Item[]): string => {
  const names = new Map(items.map((item) => [idOf(item), nameOf(item)]));
  return failures.map(({ id, error }) => `${names.get(id) ?? `#${id}`}: ${error ?? ''}`).join('\n');
};
