import { RE2JS } from 're2js';
import { alertTimeOf, leadingTimeOf } from './alert-time.ts';
import { alertEnd, type LineParser } from './device-alert.ts';

const groups = ['time', 'src', 'srcPort', 'dst', 'dstPort', 'rule', 'message', 'action'] as const;
type Group = (typeof groups)[number];

const endPattern = (name: string) => `(?P<${name}>\\d{1,3}(?:\\.\\d{1,3}){3}):(?P<${name}Port>\\d{1,5})`;

/** The format of packet logs: two endpoints with an arrow, often preceded by the rule in brackets. */
const defaultPattern = `(?:\\[\\d+:(?P<rule>\\d+):\\d+\\]\\s+(?P<message>[^\\[]*).*?|)${endPattern('src')}\\s*->\\s*${endPattern('dst')}`;

/** The engine runs in linear time but is slow. */
const maxLetters = 16_384;

/** Throws if the pattern is invalid. */
const compiled = (pattern: string) => RE2JS.compile(pattern);

/** The reason why a pattern cannot be used; undefined if it can. */
export const patternProblem = (pattern: string): string | undefined => {
  try {
    const known: readonly string[] = groups;
    const stranger = Object.keys(compiled(pattern).namedGroups()).find((name) => !known.includes(name));
    return stranger === undefined ? undefined : `there is no group ${stranger}; groups are ${groups.join(', ')}`;
  } catch (error) {
    return error instanceof Error ? error.message : 'cannot be read';
  }
};

/** Reads lines of any log by a linear-time pattern with named groups. */
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
