import { readRows } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';
import { badDictionary } from './bad-dictionary.ts';
import { assertTexts, blocksOf, type Config, type Content } from './content.ts';
import { type FileAccess, partialRowsIn, type StoredContent, soundContent } from './new-dictionary.ts';

export interface ContentPatch {
  type?: string | null;
  selection?: string | null;
  columns?: string[] | null;
  rows?: string[][] | null;
  values?: string[] | null;
  config?: Config | null;
  rowsPartial?: boolean | null;
}

interface Before {
  readonly id: number;
  readonly type: string;
  readonly selection: string;
  readonly columns: string[];
  readonly config: Config;
  readonly rowCount: number;
}

/** The content after an update, or undefined when the update leaves it alone. */
export const changedContent = async (
  before: Before,
  patch: ContentPatch,
  access: FileAccess,
): Promise<StoredContent | undefined> => {
  assertTexts(patch);
  const partial = partialRowsIn(patch);
  if (partial.length > 0) throw badDictionary(partial);
  const { type, selection, columns, config } = patch;
  const { rows, values } = patch.rowsPartial === true ? {} : patch;
  if ([type, selection, columns, config, rows, values].every((member) => member === undefined)) return undefined;
  const content: Content = {
    type: type ?? before.type,
    selection: merged(selection, before.selection, 'sequential'),
    columns: merged(columns, before.columns, []),
    config: merged(config, before.config, {}),
    rows: rows === undefined ? await storedRows<string[]>(access.read, before, 'table') : (rows ?? []),
    values: values === undefined ? await storedRows<string>(access.read, before, 'list') : (values ?? []),
  };
  const areRowsNew = rows !== undefined || values !== undefined;
  return { ...(await soundContent(content, access)), blocks: areRowsNew ? blocksOf(content) : undefined };
};

const merged = <T>(given: T | null | undefined, before: T, cleared: T) =>
  given === undefined ? before : (given ?? cleared);

const storedRows = async <Row extends string | string[]>(read: Executor, { id, type, rowCount }: Before, of: string) =>
  type === of ? readRows<Row>(read, id, { from: 0, limit: rowCount }) : [];
