import { findTaken, type HarTake } from '@rushhour/protocol';
import { RE2JS } from 're2js';
import { type Answer, contentOf } from './answer.ts';

const maxPatternBytes = 4 * 1024 * 1024;

const compiled = new Map<string, RE2JS>();
const patternOf = (regex: string): RE2JS => {
  const known = compiled.get(regex) ?? RE2JS.compile(regex);
  compiled.set(regex, known);
  return known;
};

/** In time that grows with the text alone, whatever the pattern. */
const findMatch = (regex: string, text: string): string | undefined => {
  const matcher = patternOf(regex).matcher(text.slice(0, maxPatternBytes));
  if (!matcher.find()) return undefined;
  return (matcher.groupCount() > 0 ? matcher.group(1) : matcher.group()) ?? undefined;
};

/** What a rule takes of an answer; undefined when it is not there. */
export const takenOf = (take: HarTake, answer: Answer): string | undefined => {
  const { status, headers } = answer;
  return findTaken(take, { status, headers, body: () => contentOf(answer)?.toString('utf8') ?? '' }, findMatch);
};
