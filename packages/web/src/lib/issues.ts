import { RequestFailed } from '@rushhour/client';
import { labelOf } from '../texts/labels.ts';
import { asSentence } from './explain.ts';
import { text } from './text.ts';

/** Messages by JSON pointer. */
export type Issues = Readonly<Record<string, string>>;

/** The first message of each JSON pointer. */
export const issuesOf = (found: readonly { path: string; message: string }[]): Issues =>
  Object.fromEntries([...found].reverse().map(({ path, message }) => [path, plainMessage(message)]));

/** The issues of a rejected request; empty for other errors. */
export const issuesIn = (error: unknown): Issues =>
  issuesOf((error instanceof RequestFailed && error.data.issues) || []);

/** A message without the regular expression that a value did not match. */
export const plainMessage = (message: string): string =>
  message.replace(/must match (?:the )?(?:pattern|regular expression).*$/s, text.errors.format);

/** Every issue of a rejected request, with the label of its field. */
export const explainIssues = (found: readonly { path: string; message: string }[]): string =>
  [...new Set(found.map(({ path, message }) => issueText(path, plainMessage(message))))].join('\n');

const issueText = (path: string, message: string) =>
  path === '' ? asSentence(message) : `${fieldName(path)}: ${message}`;

/** Members that contain others but mean nothing to a reader. */
const containers = new Set(['values', 'configuration', 'array', 'subplugins', 'parameters', 'agentMap']);
const maxParts = 2;

/** The field of a JSON pointer by its labels, such as "Attack modules 2 › Name". */
export const fieldName = (path: string): string => {
  const parts: string[] = [];
  const all = path.split('/').slice(1);
  for (const [i, part] of all.entries()) {
    if (/^\d+$/.test(part) && parts.length > 0) parts.push(`${parts.pop()} ${Number(part) + 1}`);
    else if (!/^\d+$/.test(part) && (!containers.has(part) || i === all.length - 1)) {
      parts.push(labelOf(part, `/${all.slice(0, i + 1).join('/')}`));
    }
  }
  return parts.slice(-maxParts).join(' › ');
};
