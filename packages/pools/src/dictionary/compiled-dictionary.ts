import { type IssueList, pointerOf } from '../values/issue.ts';
import { type ColumnRule, readColumnRule } from './column-rule.ts';
import type { DictionaryDraft, DictionaryType, FileRows } from './dictionary-draft.ts';
import { dictionaryTypes, isProtocolType } from './dictionary-draft.ts';
import { readFileOptions } from './file-options.ts';
import { type RowSource, readSource, windowOf } from './row-source.ts';
import { Section } from './section.ts';
import { readSelectionRule, type SelectionRule, selections } from './selection-rule.ts';

export const combineModes = ['batteringram', 'pitchfork', 'clusterbomb'] as const;
export type CombineMode = (typeof combineModes)[number];

/** A dictionary read once: its rows, with offset and limit applied, and how they are chosen. */
export interface CompiledDictionary {
  readonly id: number;
  readonly type: DictionaryType;
  readonly source: RowSource;
  readonly rule: SelectionRule;
  readonly columnRules: readonly ColumnRule[];
  readonly combineMode: CombineMode;
  /** By row of `source`. */
  readonly weightOf: ((row: bigint) => number) | undefined;
}

/** Undefined for parameters of a protocol and for invalid dictionaries, see `issues`. */
export function compileDictionary(
  draft: DictionaryDraft,
  issues: IssueList,
  file?: FileRows,
): CompiledDictionary | undefined {
  const type = readType(draft, issues);
  if (type === undefined) return undefined;
  const config = draft.config ?? {};
  const sectionOf = (name: string): Section =>
    new Section(Object.hasOwn(config, name) ? config[name] : undefined, `/config${pointerOf(name)}`, issues);
  const rule = readSelectionRule(readSelection(draft, type, issues), sectionOf('$selection'));
  if (type === 'file') readFileOptions(sectionOf('$source'));
  const combine = sectionOf('$combine');
  const combineMode = combine.choice('mode', combineModes) ?? 'pitchfork';
  combine.reportUnknown();
  const columns = columnsOf(draft, type, file);
  const sections = columns.map(sectionOf);
  const source = readSource({ draft, type, columns, sections, file, issues });
  const columnRules = sections.map(readColumnRule);
  for (const section of sections) section.reportUnknown();
  if (source === undefined) return undefined;
  return {
    id: draft.id ?? 0,
    type,
    source: windowOf(source, BigInt(rule.offset), BigInt(rule.limit)),
    rule,
    columnRules,
    combineMode,
    weightOf: weightsOf(source, rule),
  };
}

/** For one-column types the column is `value`; generated types may name theirs in `config` alone. */
export function columnsOf(draft: DictionaryDraft, type: DictionaryType, file?: FileRows): readonly string[] {
  const named = draft.columns ?? [];
  if (type === 'list') return [named[0] ?? 'value'];
  if (type === 'table' || named.length > 0) return named;
  if (type === 'file') return file?.columns ?? [];
  return Object.keys(draft.config ?? {}).filter((name) => !name.startsWith('$'));
}

function readType(draft: DictionaryDraft, issues: IssueList): DictionaryType | undefined {
  const type = dictionaryTypes.find((known) => known === draft.type);
  if (type !== undefined || isProtocolType(draft.type)) return type;
  return issues.error('/type', 'TYPE_UNKNOWN', `"${draft.type}" is none of ${dictionaryTypes.join(', ')}`);
}

function readSelection(draft: DictionaryDraft, type: DictionaryType, issues: IssueList): SelectionRule['selection'] {
  const wanted = draft.selection || 'sequential';
  const selection = selections.find((known) => known === wanted);
  if (selection === undefined) {
    issues.error('/selection', 'SELECTION_UNKNOWN', `"${wanted}" is none of ${selections.join(', ')}`);
  }
  if (selection === 'weighted' && ['range', 'random', 'pattern'].includes(type)) {
    issues.error('/selection', 'SELECTION_UNFIT', `a ${type} has no rows to weigh`);
  }
  return selection ?? 'sequential';
}

function weightsOf(source: RowSource, rule: SelectionRule): ((row: bigint) => number) | undefined {
  const { weights, weightColumn, offset } = rule;
  if (weights !== undefined) return (row) => weights[offset + Number(row)] ?? 0;
  if (weightColumn === undefined) return undefined;
  const column = source.columns.indexOf(weightColumn);
  return (row) => weightOfCell(source.row(BigInt(offset) + row)[column]);
}

/** 0 unless the value is a number ≥ 0. */
export function weightOfCell(cell: string | undefined): number {
  const weight = cell?.trim() ? Number(cell) : Number.NaN;
  return Number.isFinite(weight) && weight >= 0 ? weight : 0;
}
