import {
  type FileFilters,
  type FileRow,
  filesWithAny,
  tagSets,
  totalsByCategory,
  uniqueBytes,
} from '../../store/assets/files.ts';
import type { Blobs } from '../../store/blobs/blobs.ts';
import type { Executor } from '../../store/engine/database.ts';
import { type CategoryName, listCategories, type SizeLimits } from './upload/category.ts';

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

/** A record as the API returns it. */
export const shown = ({ kind: _, state, problem, upload: _plan, expiresAt: _end, ...row }: FileRow) => ({
  ...row,
  category: row.category as CategoryName,
  source: row.source as Source,
  syncReady: state === 'ready',
  ...(problem !== '' && { problem }),
});

/** Every category with its totals. */
export const categoryTotals = async (read: Executor, blobs: Blobs, limits: SizeLimits) => {
  const rows = await totalsByCategory(read);
  const [unique, { freeBytes }] = await Promise.all([uniqueBytes(read), blobs.space()]);
  const data = listCategories(limits).map(({ mimes, extensions, ...facts }) => {
    const row = rows.find(({ category }) => category === facts.category);
    const [count, bytes] = [Number(row?.count ?? 0), Number(row?.bytes ?? 0)];
    return { ...facts, mimes: [...mimes], extensions: [...extensions], count, bytes };
  });
  const sum = (member: 'count' | 'bytes') => data.reduce((total, row) => total + row[member], 0);
  const totals = { files: sum('count'), bytes: sum('bytes'), uniqueBytes: unique, quotaBytes: unique + freeBytes };
  return { data, totals };
};

interface TagQuery {
  category?: string;
  search?: string;
  limit?: number;
}

/** Tags by how many files have them; a few sets of tags cover many files. */
export const tagCounts = async (read: Executor, { category = '', search = '', limit = 100 }: TagQuery) => {
  const part = search.toLowerCase();
  const counts = new Map<string, number>();
  for (const { tags, count } of await tagSets(read, part, category)) {
    for (const tag of tags.split(',')) {
      if (tag.includes(part)) counts.set(tag, (counts.get(tag) ?? 0) + Number(count));
    }
  }
  const data = [...counts].map(([tag, count]) => ({ tag, count }));
  return data.sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1)).slice(0, limit);
};

interface Question {
  ref: string;
  sha256: string;
  size?: number;
  category?: string;
}

/** Which contents are stored. Malware and other files are checked separately. */
export const checkContents = async (read: Executor, questions: readonly Question[]) => {
  const stored = Map.groupBy(
    await filesWithAny(
      read,
      questions.map(({ sha256 }) => sha256),
    ),
    ({ sha256 }) => sha256,
  );
  return questions.map(({ ref, sha256, size, category = '' }) => {
    const isSample = category === 'malware';
    const present = (stored.get(sha256) ?? []).filter(
      (file) => (file.category === 'malware') === isSample && (size ?? file.size) === file.size,
    );
    const same = present.find((file) => file.category === category);
    const id = (same ?? present[0])?.id ?? null;
    return { ref, exists: id !== null, id, sameCategory: same !== undefined };
  });
};
