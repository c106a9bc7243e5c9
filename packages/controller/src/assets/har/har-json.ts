/** Access to members of an untrusted document: a missing member or one of another type is undefined. */
export type HarJson = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): HarJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as HarJson) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

/** NaN, negative and infinite numbers count as missing. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
