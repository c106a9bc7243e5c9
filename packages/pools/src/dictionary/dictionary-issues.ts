import { type Issue, IssueList, pointerOf } from '../values/issue.ts';
import { columnsOf, compileDictionary } from './compiled-dictionary.ts';
import type { DictionaryDraft, DictionaryType } from './dictionary-draft.ts';
import { dictionaryTypes } from './dictionary-draft.ts';
import type { SelectionRule } from './selection-rule.ts';

export const dictionaryLimits = { columns: 100, rows: 100_000, cellBytes: 8192 } as const;

const options = ['$selection', '$source', '$combine'];

/** Every problem at once, with JSON pointers. */
export function issuesOfDictionary(draft: DictionaryDraft): Issue[] {
  const issues = new IssueList();
  const compiled = compileDictionary(draft, issues);
  const type = dictionaryTypes.find((known) => known === draft.type);
  if (type === undefined) return issues.issues;
  const columns = columnsOf(draft, type);
  checkColumns(draft, type, issues);
  checkValues(draft, type, issues);
  checkRows(draft, type, issues);
  checkConfigKeys(draft, { type, columns, issues });
  if (compiled !== undefined) checkWeights(draft, { type, columns, rule: compiled.rule, issues });
  if (compiled !== undefined && type !== 'file' && compiled.source.size === 0n && compiled.rule.offset > 0) {
    issues.error('/config/$selection/offset', 'OFFSET_BEYOND_END', 'no row is left after the offset');
  }
  return issues.issues;
}

function checkColumns(draft: DictionaryDraft, type: DictionaryType, issues: IssueList): void {
  const columns = draft.columns ?? [];
  if (columns.length > dictionaryLimits.columns) {
    issues.error('/columns', 'COLUMNS_TOO_MANY', `${columns.length} columns; ${dictionaryLimits.columns} are allowed`);
  }
  if (type === 'table' && columns.length === 0) issues.error('/columns', 'COLUMNS_MISSING', 'a table needs columns');
  if (type === 'list' && columns.length > 1) issues.error('/columns', 'COLUMNS_TOO_MANY', 'a list has one column');
  const seen = new Set<string>();
  for (const [i, column] of columns.entries()) {
    if (column.trim() === '' || column.startsWith('$')) {
      issues.error(`/columns/${i}`, 'COLUMN_INVALID', 'a column has a name, and it does not begin with $');
    }
    if (seen.has(column)) issues.error(`/columns/${i}`, 'COLUMN_DUPLICATE', `"${column}" is there twice`);
    seen.add(column);
  }
}

function checkValues(draft: DictionaryDraft, type: DictionaryType, issues: IssueList): void {
  const values = draft.values ?? [];
  if (type !== 'list') {
    if (values.length > 0) issues.error('/values', 'VALUES_UNEXPECTED', `a dictionary of type ${type} has no values`);
    return;
  }
  if (values.length === 0) issues.error('/values', 'VALUES_MISSING', 'a list needs values');
  if (values.length > dictionaryLimits.rows) {
    issues.error(
      '/values',
      'ROWS_TOO_MANY',
      `${values.length} values; more than ${dictionaryLimits.rows} need type file`,
    );
  }
  for (const [i, value] of values.entries()) checkCell(value, `/values/${i}`, issues);
}

function checkRows(draft: DictionaryDraft, type: DictionaryType, issues: IssueList): void {
  const rows = draft.rows ?? [];
  if (type !== 'table') {
    if (rows.length > 0) issues.error('/rows', 'ROWS_UNEXPECTED', `a dictionary of type ${type} has no rows`);
    return;
  }
  if (rows.length === 0) issues.error('/rows', 'ROWS_MISSING', 'a table needs rows');
  if (rows.length > dictionaryLimits.rows) {
    issues.error('/rows', 'ROWS_TOO_MANY', `${rows.length} rows; more than ${dictionaryLimits.rows} need type file`);
  }
  const width = draft.columns?.length ?? 0;
  for (const [i, row] of rows.entries()) {
    if (row.length !== width) issues.error(`/rows/${i}`, 'ROW_RAGGED', `${row.length} cells for ${width} columns`);
    for (const [j, cell] of row.entries()) checkCell(cell, `/rows/${i}/${j}`, issues);
  }
}

function checkCell(cell: string, path: string, issues: IssueList): void {
  // No UTF-8 text is longer than three bytes per UTF-16 unit, so short cells need no count.
  if (cell.length * 3 <= dictionaryLimits.cellBytes) return;
  if (Buffer.byteLength(cell) > dictionaryLimits.cellBytes) {
    issues.error(path, 'CELL_TOO_LONG', `a cell has at most ${dictionaryLimits.cellBytes} bytes`);
  }
}

interface ConfigContext {
  readonly type: DictionaryType;
  readonly columns: readonly string[];
  readonly issues: IssueList;
}

function checkConfigKeys(draft: DictionaryDraft, { type, columns, issues }: ConfigContext): void {
  // The columns of a file may be known only once it is read.
  const isOpen = type === 'file' && columns.length === 0;
  for (const name of Object.keys(draft.config ?? {})) {
    const path = `/config${pointerOf(name)}`;
    if (name.startsWith('$')) {
      if (!options.includes(name)) issues.error(path, 'CONFIG_UNKNOWN_OPTION', `"${name}" is no option`);
    } else if (!isOpen && !columns.includes(name)) {
      issues.error(path, 'CONFIG_UNKNOWN_COLUMN', `there is no column "${name}"`);
    }
  }
}

function checkWeights(draft: DictionaryDraft, context: ConfigContext & { readonly rule: SelectionRule }): void {
  const { type, columns, rule, issues } = context;
  const rows = type === 'list' ? (draft.values ?? []).length : (draft.rows ?? []).length;
  const { weights, weightColumn } = rule;
  if (weights !== undefined && type !== 'file' && weights.length !== rows) {
    const message = `${weights.length} weights for ${rows} rows`;
    issues.error('/config/$selection/weights', 'WEIGHTS_COUNT', message);
  }
  if (weightColumn === undefined || (type === 'file' && columns.length === 0)) return;
  const column = columns.indexOf(weightColumn);
  if (column < 0) {
    issues.error('/config/$selection/weightColumn', 'WEIGHT_COLUMN_UNKNOWN', `there is no column "${weightColumn}"`);
    return;
  }
  for (const [i, row] of (draft.rows ?? []).entries()) {
    if (!/^\s*\d+(?:\.\d+)?\s*$/.test(row[column] ?? '')) {
      issues.error(`/rows/${i}/${column}`, 'WEIGHT_INVALID', `"${row[column] ?? ''}" is not a weight`);
    }
  }
}
