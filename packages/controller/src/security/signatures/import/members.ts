import { Refusal } from './template.ts';

export type Members = Readonly<Record<string, unknown>>;

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of an object; none if the value is not an object. */
export const membersOf = (value: unknown): Members => (isMembers(value) ? value : {});

/** A list; a single value counts as a list of one. */
export const listOf = (value: unknown): readonly unknown[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

export const textsOf = (value: unknown): string[] => listOf(value).map(textOf);

/** Words of a list or of a comma-separated text. */
export const wordsOf = (value: unknown): string[] =>
  textsOf(value)
    .flatMap((text) => text.split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '');

export const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

export const clipped = (text: string, length: number) => {
  const whole = text.replace(/\0/g, '').toWellFormed();
  return whole.length > length ? `${whole.slice(0, length - 1)}…` : whole;
};

/** One trimmed line. */
export const nameOf = (text: string, otherwise: string) =>
  clipped(text.replace(/\s+/g, ' ').trim() || otherwise, 250).trim();

const maxTags = 32;

/** Tags in canonical spelling. */
export const tagsOf = (words: readonly string[]) => {
  const plain = words.map((word) =>
    word
      .toLowerCase()
      .replace(/[^a-z0-9._:-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64),
  );
  return [...new Set(plain.filter((word) => word !== ''))].slice(0, maxTags).join(',');
};

export const cveIdsOf = (words: readonly string[]) => matching(words, /^CVE-\d{4}-\d{4,19}$/);
export const cweIdsOf = (words: readonly string[]) => matching(words, /^CWE-\d{1,9}$/);

const matching = (words: readonly string[], pattern: RegExp) =>
  [...new Set(words.map((word) => word.trim().toUpperCase()).filter((word) => pattern.test(word)))].slice(0, 64);

/** A text that is sent unchanged, even if it looks like a placeholder. */
export const literal = (text: string) => text.replaceAll('{{', '{{"{{"}}');

export const requireMembers = (value: unknown, what: string): Members => {
  if (!isMembers(value)) throw new Refusal(`${what} is missing or has another shape`);
  return value;
};
