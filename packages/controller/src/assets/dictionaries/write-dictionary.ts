import type { DictionaryUpload, NewDictionary } from '@rushhour/contract';
import type { Issue } from '../../errors.ts';
import type { Upload } from '../../handler.ts';
import { type RowBlocks, readRows } from '../../store/assets/dictionaries.ts';
import type { Executor } from '../../store/engine/database.ts';
import type { DictionaryFiles } from './content.ts';
import {
  assertTexts,
  assertValid,
  badDictionary,
  blocksOf,
  type Config,
  type Content,
  isInline,
  namedColumns,
} from './content.ts';
import { formatOf, importRows, openFile, scanFile, withFile } from './import.ts';
import { assertMrtFile } from './mrt-file.ts';

interface ContentPatch {
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
  return { ...(await validContent(content, access)), blocks: areRowsNew ? blocksOf(content) : undefined };
};

const merged = <T>(given: T | null | undefined, before: T, cleared: T) =>
  given === undefined ? before : (given ?? cleared);

const storedRows = async <Row extends string | string[]>(read: Executor, { id, type, rowCount }: Before, of: string) =>
  type === of ? readRows<Row>(read, id, { from: 0, limit: rowCount }) : [];

/** The stored columns of a dictionary's content. Without blocks the stored rows do not change. */
export interface StoredContent {
  type: string;
  selection: string;
  columns: string[];
  config: Config;
  rowCount: number;
  blocks?: RowBlocks | undefined;
}

export interface FileAccess {
  readonly files: DictionaryFiles;
  readonly read: Executor;
}

export const sourcePath = '/config/$source/fileID';

/** Checks the content and the records it needs. The caller writes new rows. */
export const validContent = async (
  content: Content,
  { files, read }: FileAccess,
  path = sourcePath,
): Promise<StoredContent> => {
  assertValid(content);
  const { type, selection, config, rows, values } = content;
  const stored = { type, selection, config, columns: namedColumns(content), rowCount: rows.length + values.length };
  const tableID = type === 'protocol.bgp' ? config['imported']?.['fileID'] : undefined;
  if (tableID !== undefined) await assertMrtFile(files, read, Number(tableID));
  if (type !== 'file') return stored;
  const file = await openFile(files, read, Number(config['$source']?.['fileID']), path);
  return { ...stored, ...(await scanFile(file, content, path)) };
};

export const contentOfUpload = async ({
  fields: { type, selection, ...fields },
  filename,
  stream,
}: Upload<DictionaryUpload>): Promise<StoredContent> => {
  const content = emptyContent(type ?? (/\.(txt|text)$/i.test(filename) ? 'list' : 'table'), selection);
  const format = formatOf(fields, filename, content.type === 'list');
  return { ...content, ...(await importRows(stream, content, { format, columns: [], path: '/file' })) };
};

export const contentOfBody = async (body: NewDictionary, access: FileAccess): Promise<StoredContent> => {
  const { fileID, type = fileID === undefined ? undefined : 'file' } = body;
  assertTexts(body);
  assertTogether(body, type);
  const content: Content = {
    ...emptyContent(type as string, body.selection),
    columns: body.columns ?? [],
    rows: body.rows ?? [],
    values: body.values ?? [],
    config: body.config ?? {},
  };
  if (fileID === undefined) return { ...(await validContent(content, access)), blocks: blocksOf(content) };
  const file = await openFile(access.files, access.read, fileID, '/fileID');
  const format = formatOf(body, file.name, type === 'list');
  if (type === 'file') {
    const config = { ...content.config, $source: { ...content.config['$source'], fileID, ...format } };
    return validContent({ ...content, config }, access, '/fileID');
  }
  const reading = { format, columns: content.columns, path: '/fileID' };
  return { ...content, ...(await withFile(file, (stream) => importRows(stream, content, reading))) };
};

const emptyContent = (type: string, selection = 'sequential') => ({
  type,
  selection,
  columns: [] as string[],
  rows: [],
  values: [],
  config: {} as Config,
});

/** Members that are needed or refused because of others. */
const assertTogether = (body: NewDictionary, type: string | undefined) => {
  const issues: Issue[] = partialRowsIn(body);
  if (type === undefined) issues.push({ path: '/type', code: 'REQUIRED', message: 'is required' });
  else if (body.fileID !== undefined && type !== 'file' && !isInline(type)) {
    issues.push({ path: '/fileID', code: 'FILE_UNEXPECTED', message: `a dictionary of type ${type} reads no file` });
  }
  for (const member of ['rows', 'values'] as const) {
    if (body.fileID !== undefined && (body[member]?.length ?? 0) > 0) {
      issues.push({ path: `/${member}`, code: 'ROWS_UNEXPECTED', message: 'the rows come from the file' });
    }
  }
  for (const member of ['delimiter', 'quote', 'header', 'encoding', 'skipEmpty'] as const) {
    if (body.fileID === undefined && body[member] !== undefined) {
      issues.push({ path: `/${member}`, code: 'FILE_MISSING', message: 'needs fileID' });
    }
  }
  if (issues.length > 0) throw badDictionary(issues);
};

type Rows = { rows?: unknown[] | null; values?: unknown[] | null; rowsPartial?: boolean | null };

/** Refuses a partial list of rows that is sent back as the complete list. */
export const partialRowsIn = (body: Rows): Issue[] =>
  (['rows', 'values'] as const)
    .filter((member) => body.rowsPartial === true && (body[member]?.length ?? 0) > 0)
    .map((member) => ({
      path: `/${member}`,
      code: 'ROWS_PARTIAL',
      message: 'these are not all rows: send all of them without rowsPartial, or none to keep what is there',
    }));
