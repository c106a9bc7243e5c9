import { expect, test } from 'vitest';
import { type CategoryName, listCategories, maxBytesOf, requireCategory, requireCategoryChange } from './category.ts';
import type { Kind } from './magic-bytes.ts';

const kinds: Kind[] = ['pcap', 'har', 'csv', 'archive', 'json', 'text', 'binary'];
const accepted: Record<CategoryName, Kind[]> = {
  pcap: ['pcap'],
  capture: ['pcap'],
  har: ['har'],
  csv: ['csv', 'text'],
  archive: ['archive'],
  signature: ['csv', 'json', 'text'],
  payload: kinds,
  malware: kinds,
  other: kinds,
};

test.each(Object.entries(accepted) as [CategoryName, Kind[]][])('%s takes %j and nothing else', (category, takes) => {
  for (const kind of kinds) {
    const attempt = () => requireCategory(category, { kind, mime: 'x/y' });
    if (takes.includes(kind)) expect(attempt).not.toThrow();
    else expect(attempt).toThrow(expect.objectContaining({ kind: 'invalid', code: 'CATEGORY_MISMATCH' }));
  }
});

test('only other changes, and never into malware', () => {
  const text = { kind: 'text', mime: 'text/plain' } as const;
  expect(() => requireCategoryChange('other', 'csv', text)).not.toThrow();
  expect(() => requireCategoryChange('malware', 'malware', text)).not.toThrow();
  expect(() => requireCategoryChange('other', 'pcap', text)).toThrow(
    expect.objectContaining({ code: 'CATEGORY_MISMATCH' }),
  );
  for (const [from, to] of [
    ['other', 'malware'],
    ['malware', 'other'],
    ['payload', 'other'],
    ['csv', 'payload'],
  ] as const) {
    expect(() => requireCategoryChange(from, to, text)).toThrow(expect.objectContaining({ code: 'CATEGORY_FIXED' }));
  }
});

test('malware has a limit of its own, never above the common one', () => {
  expect(maxBytesOf('pcap')).toBe(4 * 1024 ** 3);
  expect(maxBytesOf('malware')).toBe(256 * 1024 ** 2);
  expect(maxBytesOf('malware', { maxFileBytes: 10, maxMalwareBytes: 20 })).toBe(10);
  expect(
    listCategories()
      .map(({ category }) => category)
      .toSorted(),
  ).toEqual(Object.keys(accepted).toSorted());
});
