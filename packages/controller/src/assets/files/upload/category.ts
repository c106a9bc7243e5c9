import { fileCategories } from '@rushhour/contract';
import { ApiError, invalid } from '../../../errors.ts';
import type { Kind, Sniffed } from './magic-bytes.ts';

export type CategoryName = (typeof fileCategories)[number];

export interface SizeLimits {
  readonly maxFileBytes: number;
  readonly maxMalwareBytes: number;
}
export const defaultSizeLimits: SizeLimits = { maxFileBytes: 4 * 1024 ** 3, maxMalwareBytes: 256 * 1024 ** 2 };

export interface Category {
  readonly category: CategoryName;
  readonly mimes: readonly string[];
  /** Common extensions; a name is never refused. */
  readonly extensions: readonly string[];
  readonly maxSize: number;
}

interface Rule {
  /** Undefined: any content. */
  readonly kinds?: readonly Kind[];
  readonly mimes: readonly string[];
  readonly extensions: readonly string[];
}

const anything: Rule = { mimes: ['*/*'], extensions: [] };
const packets: Rule = {
  kinds: ['pcap'],
  mimes: ['application/vnd.tcpdump.pcap', 'application/x-pcapng'],
  extensions: ['pcap', 'pcapng', 'cap'],
};

const rules: Record<CategoryName, Rule> = {
  pcap: packets,
  capture: packets,
  har: { kinds: ['har'], mimes: ['application/har+json'], extensions: ['har'] },
  // A table of one column has no delimiter to recognize.
  csv: {
    kinds: ['csv', 'text'],
    mimes: ['text/csv', 'text/tab-separated-values', 'text/plain'],
    extensions: ['csv', 'tsv', 'txt'],
  },
  archive: {
    kinds: ['archive'],
    mimes: ['application/zip', 'application/x-tar', 'application/gzip'],
    extensions: ['zip', 'tar', 'gz', 'tgz'],
  },
  signature: {
    kinds: ['text', 'json', 'csv'],
    mimes: ['text/*', 'application/json'],
    extensions: ['yaml', 'yml', 'json', 'xml', 'rules', 'txt'],
  },
  payload: anything,
  malware: anything,
  other: anything,
};

export const maxBytesOf = (category: CategoryName, limits: SizeLimits = defaultSizeLimits) =>
  category === 'malware' ? Math.min(limits.maxMalwareBytes, limits.maxFileBytes) : limits.maxFileBytes;

export const listCategories = (limits: SizeLimits = defaultSizeLimits): Category[] =>
  fileCategories.map((category) => {
    const { mimes, extensions } = rules[category];
    return { category, mimes, extensions, maxSize: maxBytesOf(category, limits) };
  });

/** Refuses content that does not match its category: 400 CATEGORY_MISMATCH. */
export const requireCategory = (category: CategoryName, { kind, mime }: Sniffed): void => {
  const { kinds, mimes } = rules[category];
  if (!kinds || kinds.includes(kind)) return;
  const message = `the content is ${mime}; ${category} takes ${mimes.join(', ')}`;
  throw invalid([{ path: '/category', code: 'CATEGORY_MISMATCH', message }], 'CATEGORY_MISMATCH');
};

/** Only `other` may become something else, and nothing becomes malware or stops being it. */
export const requireCategoryChange = (from: CategoryName, to: CategoryName, sniffed: Sniffed): void => {
  if (from === to) return;
  if (from !== 'other' || to === 'malware') {
    throw new ApiError('conflict', 'CATEGORY_FIXED', `a file of category ${from} cannot become ${to}`, { from, to });
  }
  requireCategory(to, sniffed);
};
