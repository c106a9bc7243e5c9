import { floorIndex } from '../values/value-range.ts';
import type { CombineMode, CompiledDictionary } from './compiled-dictionary.ts';
import type { DictionaryDraft } from './dictionary-draft.ts';
import { createRowView, type DictionaryDrawOptions, parseDictionary, type RowView } from './draw.ts';
import { createPicker, type DrawPosition } from './picker.ts';

/** Several dictionaries that feed one request. */
export interface CombinedDraw {
  readonly mode: CombineMode;
  /** Number of combinations. */
  readonly size: bigint;
  /** One row per dictionary, in their order; undefined after the last row. */
  rows(position: DrawPosition): readonly (readonly string[])[] | undefined;
}

/** Rows of a dictionary of type `file`. */
export interface CombinedPart {
  readonly dictionary: DictionaryDraft;
  readonly rows?: DictionaryDrawOptions['rows'];
}

/**
 * The first dictionary's `$combine` and selection hold for the combinations; offset, limit and column rules are each
 * dictionary's own, and weights are not used.
 * - `batteringram`: one row for every member; the rows of all dictionaries, one after the other.
 * - `pitchfork` (default): the n-th row of each, as many as the shortest has.
 * - `clusterbomb`: every combination, the last dictionary fastest.
 */
export function createCombinedDraw(
  parts: readonly CombinedPart[],
  options: Omit<DictionaryDrawOptions, 'rows'>,
): CombinedDraw {
  const compiled = parts.map(({ dictionary, rows }) => parseDictionary(dictionary, rows));
  const first = compiled[0];
  if (first === undefined) throw new RangeError('there is no dictionary to combine');
  const mode = first.combineMode;
  const { size, rowsAt } = combiners[mode](compiled, compiled.map(createRowView));
  const pick = createPicker({
    size,
    rule: first.rule,
    options,
    label: first.id,
    isRandomType: compiled.every(({ type }) => type === 'random'),
  });
  const rows = (position: DrawPosition): readonly (readonly string[])[] | undefined => {
    const index = pick(position);
    return index === undefined ? undefined : rowsAt(index);
  };
  return { mode, size, rows };
}

interface Combination {
  readonly size: bigint;
  rowsAt(index: bigint): readonly (readonly string[])[];
}

type Combiner = (dictionaries: readonly CompiledDictionary[], views: readonly RowView[]) => Combination;

const combiners: Readonly<Record<CombineMode, Combiner>> = {
  batteringram: (dictionaries, views) => {
    const before: bigint[] = [];
    let size = 0n;
    for (const { source } of dictionaries) {
      before.push(size);
      size += source.size;
    }
    const rowsAt = (index: bigint): readonly (readonly string[])[] => {
      const i = floorIndex(before, index);
      const row = views[i]?.row(index - (before[i] ?? 0n)) ?? [];
      return views.map(() => row);
    };
    return { size, rowsAt };
  },
  pitchfork: (dictionaries, views) => ({
    size: dictionaries.reduce((smallest, other) => (other.source.size < smallest.source.size ? other : smallest)).source
      .size,
    rowsAt: (index) => views.map((view) => view.row(index)),
  }),
  clusterbomb: (dictionaries, views) => ({
    size: dictionaries.reduce((product, { source }) => product * source.size, 1n),
    rowsAt: (index) => {
      let rest = index;
      const picks = dictionaries.toReversed().map(({ source }) => {
        const pick = rest % source.size;
        rest /= source.size;
        return pick;
      });
      return views.map((view, i) => view.row(picks[views.length - 1 - i] ?? 0n));
    },
  }),
};
