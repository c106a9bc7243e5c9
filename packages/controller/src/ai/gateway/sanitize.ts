// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const ansi = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g;
/** Control characters but for newline and tab, and characters that are seen by machines alone. */
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what is taken out
const unseen =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u180E\u200B\u200C\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF\u{E0001}\u{E0020}-\u{E007F}]/gu;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: they are what is taken out
/** A variation selector without a base character. */
const loneSelector = /(?<![\p{L}\p{N}\p{S}\p{Extended_Pictographic}#*])[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/gu;

const maxCharacters = 2000;

/** Untrusted text for a model: without hidden characters, and short. */
export const sanitizeForModel = (text: string, max = maxCharacters): string => {
  const plain = text.replace(ansi, '').replace(unseen, '').replace(loneSelector, '');
  if (plain.length <= max) return plain.isWellFormed() ? plain : plain.toWellFormed();
  return `${plain.slice(0, max - 1).toWellFormed()}…`;
};

/** The same for every text inside a value; names stay. */
export const sanitizeTree = <T>(value: T, max = maxCharacters): T => {
  if (typeof value === 'string') return sanitizeForModel(value, max) as T;
  if (Array.isArray(value)) return value.map((item) => sanitizeTree(item, max)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, sanitizeTree(member, max)])) as T;
};
