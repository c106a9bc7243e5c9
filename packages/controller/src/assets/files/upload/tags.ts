import type { Issue } from '../../../errors.ts';

const tagPattern = /^[a-z0-9._:-]{1,64}$/;
const maxTags = 32;

export interface ParsedTags {
  /** Without blanks around them, each once, in the order given. */
  readonly tags: readonly string[];
  readonly issues: readonly Issue[];
}

/** Reads the one string tags are kept in; reports every tag that breaks the rules, not only the first. */
export const parseTags = (text: string, path = '/tags'): ParsedTags => {
  const given = text.split(',').map((tag) => tag.trim());
  const tags = [...new Set(given.filter((tag) => tag !== ''))];
  const bad = tags.filter((tag) => !tagPattern.test(tag));
  const issues = bad.slice(0, maxTags).map((tag) => ({
    path,
    code: 'BAD_TAG',
    message: `${JSON.stringify(tag.slice(0, 80))} is not a tag: 1 to 64 of a-z 0-9 . _ : -`,
  }));
  if (tags.length > maxTags) {
    issues.push({ path, code: 'TOO_MANY_TAGS', message: `${tags.length} tags; at most ${maxTags} are kept` });
  }
  return { tags, issues };
};

export const formatTags = (tags: readonly string[]) => tags.join(',');

/** Tags out of a file's name: its words without the extension, numbers and single letters left out. */
export const tagsFromName = (name: string): string[] => {
  const stem = name
    .toLowerCase()
    .replace(/^.*[\\/]/, '')
    .replace(/(\.tar)?\.[a-z0-9]{1,8}$/, '');
  const words = stem.split(/[^a-z0-9.:-]+/).map((word) => word.replace(/^[.:-]+|[.:-]+$/g, '').slice(0, 64));
  return [...new Set(words.filter((word) => word.length > 1 && !/^\d+$/.test(word)))].slice(0, maxTags);
};
