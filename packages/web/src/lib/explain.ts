import { RequestFailed } from '@rushhour/client';
import { text } from './text.ts';

const { errors: words } = text;
const hints: Readonly<Record<string, string>> = words.hints;

/** An error in words: the message of the controller and what to do about it. Issues have words of their own. */
export const explain = (error: unknown): string => {
  if (error instanceof RequestFailed) return [asSentence(error.message), ...hintOf(error)].join('\n');
  // `fetch` throws a TypeError without a response; its wording differs between browsers.
  if (error instanceof TypeError) return words.noAnswer;
  return error instanceof Error ? error.message : String(error);
};

const hintOf = ({ status, code, data }: RequestFailed): string[] => {
  if (status === 403 && typeof data['permission'] === 'string') return [words.permission(data['permission'])];
  const hint = hints[code];
  return hint === undefined ? [] : [hint];
};

export const asSentence = (message: string): string => {
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
};
