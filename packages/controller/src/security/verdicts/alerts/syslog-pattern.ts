import { RE2JS } from 're2js';
import { alertTimeOf, leadingTimeOf } from './alert-time.ts';
import { alertEnd, type LineParser } from './device-alert.ts';

const groups = ['time', 'src', 'srcPort', 'dst', 'dstPort', 'rule', 'message', 'action'] as const;
type Group = (typeof groups)[number];

const endPattern = (name: string) => `(?P<${name}>\\d{1,3}(?:\\.\\d{1,3}){3}):(?P<${name}Port>\\d{1,5})`;

/** What packet logs write: two ends with ports and an arrow, often the rule in brackets before them. */
const defaultPattern = `(?:\\[\\d+:(?P<rule>\\d+):\\d+\\]\\s+(?P<message>[^\\[]*).*?|)${endPattern('src')}\\s*->\\s*${endPattern('dst')}`;

/** The engine is linear, not fast. */
const maxLetters = 16_384;

/** Throws what is wrong with it. */
const compiled = (pattern: string) => RE2JS.compile(pattern);

/** Why a pattern cannot be used; undefined when it can. */
export const patternProblem = (pattern: string): string | undefined => {
  try {
    const known: readonly string[] = groups;
    const stranger = Object.keys(compiled(pattern).namedGroups()).find((name) => !known.includes(name));
    return stranger === undefined ? undefined : `there is no group ${stranger}; groups are ${groups.join(', ')}`;
  } catch (error) {
    return error instanceof Error ? error.message : 'cannot be read';
  }
};

/** Lines of any log, by a linear-time pattern whose named groups say what is where. */
export const createPatternParser = (pattern: string = defaultPattern): LineParser => {
  const regex = compiled(pattern);
  const named = new Set(Object.keys(regex.namedGroups()));
  return (line, nearMs) => {
    const matcher = regex.matcher(line.slice(0, maxLetters));
    if (!matcher.find()) return { timeMs: leadingTimeOf(line, nearMs) };
    const get = (group: Group) => (named.has(group) ? (matcher.group(group) ?? '') : '').slice(0, 1000).trim();
    const timeMs = alertTimeOf(get('time'), nearMs) ?? leadingTimeOf(line, nearMs);
    return {
      timeMs,
      alert: {
        timeMs,
        rule: get('rule'),
        message: get('message'),
        action: get('action'),
        from: alertEnd(get('src'), get('srcPort')),
        to: alertEnd(get('dst'), get('dstPort')),
        text: line,
      },
    };
  };
};
