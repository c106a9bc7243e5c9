/** Columns that several collections share. */
export const columns = {
  name: { key: 'name' },
  changed: { key: 'updatedAt', isMinor: true },
  createdBy: { key: 'issuer', isMinor: true },
  tags: { key: 'tags', isMinor: true },
} as const;
