import { sendable, unsendable } from '@rushhour/wire';

type Named = readonly { readonly name: string; readonly value: string }[];

/** HTTP/2 headers: lower-case names, each once with all its values. Those of a single connection are left out. */
export const plainHeaders = (headers: Named): Record<string, string | string[]> => {
  const found = new Map<string, string[]>();
  for (const header of headers) {
    const [name, value] = sendable(header.name, header.value) ?? [];
    if (name !== undefined && value !== undefined) found.set(name, [...(found.get(name) ?? []), value]);
  }
  return Object.fromEntries(
    [...found].map(([name, values]) => [name, values.length === 1 ? (values[0] as string) : values]),
  );
};

/** Why HTTP/2 cannot carry a request as it is; a header that was changed would be another attempt. */
export const requestProblem = (line: { method: string; path: string }, headers: Named): string | undefined => {
  const named = Object.entries(line).map(([name, value]) => ({ name, value }));
  const problem = [...named, ...headers].map(({ name, value }) => unsendable(name, value)).find(Boolean);
  return problem && `HTTP/2 cannot carry this request: ${problem}`;
};

/** Pairs of a flat list of names and values. */
export const pairsIn = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length >> 1 }, (_, i) => [
    (raw[2 * i] as string).toLowerCase(),
    (raw[2 * i + 1] as string).trim(),
  ]);
