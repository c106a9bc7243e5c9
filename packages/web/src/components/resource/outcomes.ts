interface Outcome {
  id: number;
  ok: boolean;
  error?: string;
}

/** What happened to each record, where the answer tells: those for which it did not work. */
export const failuresIn = (reply: unknown): Outcome[] => {
  const data = (reply as { data?: unknown } | undefined)?.data;
  return Array.isArray(data) ? data.filter((one): one is Outcome => one?.ok === false) : [];
};

/** One line for each failure, by the name of the record. */
export const linesOf = (failures: readonly Outcome[], names: ReadonlyMap<number, string>): string =>
  failures.map(({ id, error }) => `${names.get(id) ?? `#${id}`}: ${error ?? ''}`).join('\n');
