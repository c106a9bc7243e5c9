import type { HarHeader, HarTake } from './har-script.ts';
import { findInJson } from './json-path.ts';

/** The parts of an answer that values are extracted from. */
export interface TakenFrom {
  readonly status: number;
  readonly headers: readonly HarHeader[];
  /** Decoded. */
  body(): string;
}

/** The first group of a match, otherwise the whole match. */
export type FindMatch = (regex: string, text: string) => string | undefined;

const partOf = (part: HarTake['part'], answer: TakenFrom): string => {
  if (part === 'body') return answer.body();
  if (part === 'status') return String(answer.status);
  if (part === 'header') return answer.headers.map(({ name, value }) => `${name}: ${value}`).join('\n');
  const cookies = answer.headers.filter(({ name }) => name.toLowerCase() === 'set-cookie');
  return cookies.map(({ value }) => value.split(';', 1)[0]?.trim() ?? '').join('\n');
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** The value a rule extracts from an answer; undefined when it is missing. */
export const findTaken = (
  { part, regex, jsonPath }: Pick<HarTake, 'part' | 'regex' | 'jsonPath'>,
  answer: TakenFrom,
  findMatch: FindMatch,
): string | undefined => {
  const text = partOf(part, answer);
  const found = jsonPath === undefined ? text : findInJson(parse(text), jsonPath);
  return found === undefined || regex === undefined ? found : findMatch(regex, found);
};
