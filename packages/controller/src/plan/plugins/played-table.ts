import type { DictionaryDraft } from '@rushhour/pools';
import type { PlayedDictionary } from '@rushhour/protocol';

/** A dictionary as agents get it. */
export const playedTable = (
  id: number,
  { type, selection, columns, rows, values, config }: DictionaryDraft,
): PlayedDictionary => ({
  ...{ id, type, selection: selection ?? 'sequential' },
  columns: [...(columns ?? [])],
  rows: (rows ?? []).map((row) => [...row]),
  values: [...(values ?? [])],
  config: { ...(config ?? {}) },
});
