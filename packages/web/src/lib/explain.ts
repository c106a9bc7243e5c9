import { RequestFailed } from '@rushhour/client';
import { fieldName, plainMessage } from './issues.ts';
import { text } from './text.ts';

const { errors: words } = text;
const hints: Readonly<Record<string, string>> = words.hints;

/** An error in words: each issue of a rejected request, or the message of the controller and what to do about it. */
export const explain = (error: unknown): string => {
  if (error instanceof RequestFailed) {
    const issues = error.data.issues?.map(({ path, message }) => issueText(path, message)) ?? [];
    if (issues.length > 0) return [...new Set(issues)].join('\n');
    return [asSentence(error.message), ...hintOf(error)].join('\n');
  }
  // `fetch` throws a TypeError without a response; its wording differs between browsers.
  if (error instanceof TypeError) return words.noAnswer;
  return error instanceof Error ? error.message : String(error);
};

const issueText = (path: string, message: string) =>
  path === '' ? asSentence(plainMessage(message)) : `${fieldName(path)}: ${plainMessage(message)}`;

const hintOf = ({ status, code, data }: RequestFailed): string[] => {
  if (status === 403 && typeof data['permission'] === 'string') return [words.permission(data['permission'])];
  const hint = hints[code];
  return hint === undefined ? [] : [hint];
};

const asSentence = (message: string) => {
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
};
