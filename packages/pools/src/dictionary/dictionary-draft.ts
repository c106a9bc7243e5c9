/** The members of a Dictionary, stored or draft, that determine its values. */
export interface DictionaryDraft {
  readonly id?: number | null | undefined;
  /** list, table, range, random, pattern or file; protocol.<name> carries parameters and no values. */
  readonly type: string;
  /** sequential (default), random, shuffle, weighted, unique or pinned. */
  readonly selection?: string | null | undefined;
  readonly columns?: readonly string[] | null | undefined;
  readonly rows?: readonly (readonly string[])[] | null | undefined;
  readonly values?: readonly string[] | null | undefined;
  /** Keys are column names, or options of the dictionary when they begin with `$`. */
  readonly config?: DictionaryConfig | null | undefined;
}

export type DictionaryConfig = Readonly<Record<string, object>>;

/** The rows of a dictionary of type `file`, read by the caller. */
export interface FileRows {
  readonly count: number;
  /** Used if the dictionary names no columns. */
  readonly columns?: readonly string[] | undefined;
  row(index: number): readonly string[];
}

export const dictionaryTypes = ['list', 'table', 'range', 'random', 'pattern', 'file'] as const;
export type DictionaryType = (typeof dictionaryTypes)[number];

/** Parameters of an emulated protocol, without rows. */
export function isProtocolType(type: string): boolean {
  return /^protocol\.[a-z0-9-]+$/i.test(type);
}
