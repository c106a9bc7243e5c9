import { text } from '../../lib/text.ts';

export const { columns: headers } = text;

/** Columns that several collections share. */
export const columns = {
  name: { key: 'name', header: headers.name },
  changed: { key: 'updatedAt', header: headers.changed, isMinor: true },
  createdBy: { key: 'issuer', header: headers.by, isMinor: true },
  tags: { key: 'tags', header: headers.tags, isMinor: true },
} as const;
