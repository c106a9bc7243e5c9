import type { IssueList } from '../values/issue.ts';
import { findClass } from './alphabet.ts';
import type { DictionaryDraft, DictionaryType, FileRows } from './dictionary-draft.ts';
import { readRandomColumn } from './random-column.ts';
import { readRangeColumn } from './range-column.ts';
import type { Section } from './section.ts';
import { digitsOf, type Sequence } from './sequence.ts';

/** Numbered rows, stored or computed. */
export interface RowSource {
  readonly columns: readonly string[];
  readonly size: bigint;
  row(index: bigint): readonly string[];
}

export interface SourceParts {
  readonly draft: DictionaryDraft;
  readonly type: DictionaryType;
  readonly columns: readonly string[];
  /** One per column. */
  readonly sections: readonly Section[];
  readonly file: FileRows | undefined;
  readonly issues: IssueList;
}

export function readSource({ draft, type, columns, sections, file, issues }: SourceParts): RowSource | undefined {
  if (type === 'list') return listSource(columns[0] ?? 'value', draft.values ?? []);
  if (type === 'table') return tableSource(columns, draft.rows ?? []);
  if (type === 'file') {
    return { columns, size: BigInt(file?.count ?? 0), row: (index) => file?.row(Number(index)) ?? [] };
  }
  if (columns.length === 0) {
    return issues.error('/config', 'CONFIG_MISSING', `type ${type} describes its values in config, under "value"`);
  }
  const readColumn = { range: readRangeColumn, random: readRandomColumn, pattern: readPatternColumn }[type];
  const sequences = sections.map(readColumn);
  if (!sequences.every((sequence) => sequence !== undefined)) return undefined;
  return type === 'range' ? zippedSource(columns, sequences) : productSource(columns, sequences);
}

function readPatternColumn(section: Section): Sequence | undefined {
  const pattern = section.text('pattern') ?? '';
  const sequence = findTextPattern(pattern);
  if (sequence !== undefined) return sequence;
  return section.error('pattern', 'PATTERN_INVALID', `"${pattern}" is not a pattern such as user-[a-z]{4}-#{3}`);
}

function listSource(column: string, values: readonly string[]): RowSource {
  return { columns: [column], size: BigInt(values.length), row: (index) => [values[Number(index)] ?? ''] };
}

function tableSource(columns: readonly string[], rows: readonly (readonly string[])[]): RowSource {
  return { columns, size: BigInt(rows.length), row: (index) => rows[Number(index)] ?? [] };
}

/** Row n holds the n-th value of every column; as long as the longest, the shorter ones start over. */
function zippedSource(columns: readonly string[], sequences: readonly Sequence[]): RowSource {
  const { size } = sequences.reduce((longest, other) => (other.size > longest.size ? other : longest));
  return { columns, size, row: (index) => sequences.map((sequence) => sequence.at(index % sequence.size)) };
}

/** Every combination of the columns' values, the last column fastest: random columns stay independent of each other. */
function productSource(columns: readonly string[], sequences: readonly Sequence[]): RowSource {
  return {
    columns,
    size: sequences.reduce((product, sequence) => product * sequence.size, 1n),
    row: (index) => {
      let rest = index;
      return sequences
        .toReversed()
        .map((sequence) => {
          const digit = rest % sequence.size;
          rest /= sequence.size;
          return sequence.at(digit);
        })
        .toReversed();
    },
  };
}

/** Rows from `offset` on, at most `limit` of them; 0 means all. */
export function windowOf(source: RowSource, offset: bigint, limit: bigint): RowSource {
  const rest = source.size > offset ? source.size - offset : 0n;
  const size = limit > 0n && limit < rest ? limit : rest;
  return { columns: source.columns, size, row: (index) => source.row(offset + index) };
}

interface PatternElement {
  readonly alphabet: readonly string[];
  readonly count: number;
}

const digits = [...'0123456789'];
const token = /\[((?:\\.|[^\]\\])+)\]|\\(.)|([^[\]{}\\])/suy;
const repeat = /\{(\d{1,4})\}/y;
const lengthLimit = 8192;

/**
 * `#` is a digit, `[a-z0-9]` one of the characters, `{n}` repeats the element before it, a backslash escapes the next
 * character; all other characters are literal. Texts are ordered like numbers, the last position fastest.
 */
export function findTextPattern(pattern: string): Sequence | undefined {
  const elements = findElements(pattern);
  if (elements === undefined || elements.length === 0) return undefined;
  if (elements.reduce((sum, element) => sum + element.count, 0) > lengthLimit) return undefined;
  const sizes = elements.map(({ alphabet, count }) => BigInt(alphabet.length) ** BigInt(count));
  const at = (index: bigint): string => {
    let text = '';
    let rest = index;
    for (let i = elements.length - 1; i >= 0; i--) {
      const { alphabet, count } = elements[i] as PatternElement;
      const size = sizes[i] as bigint;
      text =
        digitsOf(rest % size, alphabet.length, count)
          .map((digit) => alphabet[digit])
          .join('') + text;
      rest /= size;
    }
    return text;
  };
  return { size: sizes.reduce((product, size) => product * size, 1n), at };
}

function findElements(pattern: string): PatternElement[] | undefined {
  const elements: PatternElement[] = [];
  for (let position = 0; position < pattern.length; ) {
    token.lastIndex = position;
    const [whole, inner, escaped, plain] = token.exec(pattern) ?? [];
    if (whole === undefined) return undefined;
    const alphabet = inner !== undefined ? findClass(inner) : plain === '#' ? digits : [escaped ?? plain ?? ''];
    if (alphabet === undefined) return undefined;
    position += whole.length;
    repeat.lastIndex = position;
    const [repeated = '', times = '1'] = repeat.exec(pattern) ?? [];
    position += repeated.length;
    elements.push({ alphabet, count: Number(times) });
  }
  return elements;
}
