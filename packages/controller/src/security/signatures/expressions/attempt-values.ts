import type { SigPayload } from '@rushhour/contract';

/** Most attempts of one signature, whatever it says. */
export const maxRendered = 2000;

interface Lists {
  readonly payloads: readonly SigPayload[];
  readonly combine: string;
  readonly maxAttempts: number;
}

/** Values of dictionaries, by id. */
export type DictionaryValues = (id: number) => readonly string[];

/** The values of each attempt, by the name of their payload. One attempt without values where there are no payloads. */
export const attemptValues = (
  { payloads, combine, maxAttempts }: Lists,
  dictionary: DictionaryValues,
): ReadonlyMap<string, string>[] => {
  const lists = payloads.map(({ name, values, dictionaryId }) => ({
    name,
    values: values ?? (dictionaryId === undefined ? [] : dictionary(dictionaryId)),
  }));
  const max = Math.min(maxAttempts, maxRendered);
  if (lists.length === 0) return [new Map()];
  if (combine === 'pitchfork') return sideBySide(lists, max);
  return combine === 'clusterbomb' ? everyCombination(lists, max) : sameEverywhere(lists, max);
};

type List = { readonly name: string; readonly values: readonly string[] };

const sameEverywhere = (lists: readonly List[], max: number) =>
  lists
    .flatMap(({ values }) => values)
    .slice(0, max)
    .map((value) => new Map(lists.map(({ name }) => [name, value])));

const sideBySide = (lists: readonly List[], max: number) => {
  const length = Math.min(max, ...lists.map(({ values }) => values.length));
  return Array.from({ length }, (_, i) => new Map(lists.map(({ name, values }) => [name, values[i] ?? ''])));
};

const everyCombination = (lists: readonly List[], max: number) => {
  const total = lists.reduce((product, { values }) => product * values.length, 1);
  return Array.from({ length: Math.min(total, max) }, (_, index) => {
    let rest = index;
    const chosen = lists.toReversed().map(({ name, values }): [string, string] => {
      const value = values[rest % values.length] ?? '';
      rest = Math.floor(rest / values.length);
      return [name, value];
    });
    return new Map(chosen);
  });
};
