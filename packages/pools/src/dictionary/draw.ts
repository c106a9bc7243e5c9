import { IssueList } from '../values/issue.ts';
import { applyRule, type ColumnRule } from './column-rule.ts';
import { type CompiledDictionary, compileDictionary } from './compiled-dictionary.ts';
import type { DictionaryDraft, FileRows } from './dictionary-draft.ts';
import { createPicker, type DrawOptions, type DrawPosition, type Picker } from './picker.ts';

export interface DictionaryDrawOptions extends DrawOptions {
  /** The rows of a dictionary of type `file`. */
  readonly rows?: FileRows | undefined;
}

/**
 * The rows a dictionary yields. Everything drawn is a pure function of the options and the position, so processes agree
 * without communication; the columns of one position come from one row.
 */
export interface Draw {
  /** Without hidden columns. */
  readonly columns: readonly string[];
  /** Rows in the dictionary, after offset and limit. */
  readonly size: bigint;
  /** One cell per column; undefined after the last row. */
  row(position: DrawPosition): readonly string[] | undefined;
  /** The first column by default. */
  value(position: DrawPosition, column?: string): string | undefined;
}

/** Throws a DraftError if the dictionary is invalid. */
export function createDraw(dictionary: DictionaryDraft, options: DictionaryDrawOptions): Draw {
  const compiled = parseDictionary(dictionary, options.rows);
  const { id, type, source, rule, weightOf } = compiled;
  const pick: Picker = createPicker({
    size: source.size,
    rule,
    options,
    label: id,
    isRandomType: type === 'random',
    weightOf,
  });
  const view = createRowView(compiled);
  return {
    columns: view.columns,
    size: source.size,
    row: (position) => {
      const index = pick(position);
      return index === undefined ? undefined : view.row(index);
    },
    value: (position, column) => {
      const cell = view.cellOf(column);
      const index = pick(position);
      return index === undefined ? undefined : cell(index);
    },
  };
}

export function parseDictionary(dictionary: DictionaryDraft, rows?: FileRows): CompiledDictionary {
  const issues = new IssueList();
  const compiled = compileDictionary(dictionary, issues, rows);
  issues.throwIfErrors();
  if (compiled === undefined) throw new RangeError(`a dictionary of type ${dictionary.type} has no values to draw`);
  if (compiled.type === 'file' && rows === undefined) throw new RangeError('the rows of the file are missing');
  return compiled;
}

/** Rows without hidden columns, their cells trimmed, cut and encoded. */
export interface RowView {
  readonly columns: readonly string[];
  row(index: bigint): readonly string[];
  cellOf(column?: string): (index: bigint) => string;
}

export function createRowView({ source, columnRules }: CompiledDictionary): RowView {
  const shown = source.columns.flatMap((name, column) => {
    const rule = columnRules[column];
    return rule === undefined || rule.hidden ? [] : [{ name, column, rule }];
  });
  const finish = (cells: readonly string[], { column, rule }: { column: number; rule: ColumnRule }): string =>
    applyRule(rule, cells[column] ?? '');
  return {
    columns: shown.map(({ name }) => name),
    row: (index) => {
      const cells = source.row(index);
      return shown.map((column) => finish(cells, column));
    },
    cellOf: (wanted) => {
      const column = wanted === undefined ? shown[0] : shown.find(({ name }) => name === wanted);
      if (column === undefined) throw new RangeError(`the dictionary has no column "${wanted ?? ''}"`);
      return (index) => finish(source.row(index), column);
    },
  };
}
