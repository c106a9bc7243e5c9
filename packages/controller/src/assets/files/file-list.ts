import type { FileFilters, FileRow } from '../../store/assets/files.ts';
import type { CategoryName } from './upload/category.ts';

interface ListFilters {
  category?: readonly string[];
  tag?: readonly string[];
  source?: string;
  mime?: string;
  hash?: string;
  sizeMin?: number;
  sizeMax?: number;
  createdFrom?: string;
  createdTo?: string;
  syncReady?: boolean;
  issuerID?: number;
  unused?: boolean;
}

const list = (values: readonly string[] | undefined) => values && JSON.stringify(values);
const flag = (value: boolean | undefined) => (value === undefined ? undefined : Number(value));
export const instant = (time: string | undefined) => time && new Date(time).toISOString();

/** The filters of a list as the database takes them. */
export const filtersOf = (query: ListFilters): { [K in keyof FileFilters]?: FileFilters[K] | undefined } => ({
  category: list(query.category),
  tag: list(query.tag?.map((tag) => tag.toLowerCase())),
  source: query.source,
  mime: query.mime,
  hash: query.hash?.toLowerCase(),
  sizeMin: query.sizeMin,
  sizeMax: query.sizeMax,
  createdFrom: instant(query.createdFrom),
  createdTo: instant(query.createdTo),
  syncReady: flag(query.syncReady),
  issuerID: query.issuerID,
  unused: flag(query.unused),
});

type Source = 'upload' | 'import' | 'generated' | 'trimmed' | 'task' | 'builtin';

/** A record as it is answered. */
export const shown = ({ kind: _, state, problem, upload: _plan, expiresAt: _end, ...row }: FileRow) => ({
  ...row,
  category: row.category as CategoryName,
  source: row.source as Source,
  syncReady: state === 'ready',
  ...(problem !== '' && { problem }),
});
