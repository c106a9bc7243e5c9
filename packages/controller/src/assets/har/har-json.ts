/** Members of a document that anyone may have written: what is not there or of another kind is nothing. */
export type HarJson = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): HarJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as HarJson) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

/** Numbers that are none, negative or endless count as not there. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
