import { findJsonPath, findTaken, type HarTake, type TakenFrom } from '@rushhour/protocol';
import { RE2JS } from 're2js';
import type { RecordedEntry } from './har-recording.ts';
import type { Substitution } from './har-request.ts';
import type { HarParams } from './har-selection.ts';

/** A problem of the replay parameters; `path` starts at `harReplayParams`. */
export interface HarIssue {
  readonly severity: 'error' | 'warning';
  readonly path: readonly (string | number)[];
  readonly code: string;
  readonly message: string;
}

export interface Correlation {
  /** By position of the entry. */
  readonly takes: ReadonlyMap<number, readonly HarTake[]>;
  readonly substitutions: ReadonlyMap<number, readonly Substitution[]>;
  /** Whether entry `to` uses a value of entry `from`. */
  readonly gives: (from: number, to: number) => boolean;
}

type Rule = HarParams['correlate'][number];

/** Undefined when the pattern is valid. */
export const patternProblem = (regex: string): string | undefined => {
  try {
    RE2JS.compile(regex);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

const findMatch = (regex: string, text: string): string | undefined => {
  const matcher = RE2JS.compile(regex).matcher(text);
  if (!matcher.find()) return undefined;
  return (matcher.groupCount() > 0 ? matcher.group(1) : matcher.group()) ?? undefined;
};

const answerOf = ({ status, answerHeaders, answer }: RecordedEntry): TakenFrom => ({
  status,
  headers: answerHeaders,
  body: () => answer.bytes?.toString('utf8') ?? '',
});

interface Scope {
  readonly entries: readonly RecordedEntry[];
  readonly positions: ReadonlyMap<number, number>;
  readonly issues: HarIssue[];
}

/** The extraction of a rule; undefined, with an issue, when the rule is invalid. */
const takeOf = ({ from }: Rule, slot: number, { entries, positions, issues }: Scope): HarTake | undefined => {
  const report = (severity: HarIssue['severity'], member: string, code: string, message: string): undefined =>
    void issues.push({ severity, path: ['correlate', slot, 'from', member], code, message });
  const { entryIdx, part, regex, jsonPath } = from;
  const position = positions.get(entryIdx);
  if (position === undefined) return report('error', 'entryIdx', 'ENTRY_NOT_PLAYED', `entry ${entryIdx} is not played`);
  const problem = regex === undefined ? undefined : patternProblem(regex);
  if (problem !== undefined) return report('error', 'regex', 'PATTERN_INVALID', problem);
  const steps = jsonPath === undefined ? undefined : findJsonPath(jsonPath);
  if (jsonPath !== undefined && (steps === undefined || part !== 'body')) {
    return report('error', 'jsonPath', 'PATTERN_INVALID', 'is no path into a JSON body, such as $.user.token');
  }
  if (regex === undefined && steps === undefined && part !== 'status') {
    return report('error', 'regex', 'REQUIRED', `a pattern or path must say what to take of the ${part}`);
  }
  const take = { slot, part, ...(regex !== undefined && { regex }), ...(steps && { jsonPath: steps }) };
  const entry = entries[position] as RecordedEntry;
  if (
    (part !== 'body' || entry.answer.bytes !== undefined) &&
    findTaken(take, answerOf(entry), findMatch) === undefined
  ) {
    report('warning', 'entryIdx', 'VALUE_NOT_RECORDED', `the recorded answer of entry ${entryIdx} has no such value`);
  }
  return take;
};

/** The extractions and substitutions of all rules. A slot has the number of its rule. */
export const correlationOf = (
  rules: readonly Rule[],
  entries: readonly RecordedEntry[],
  issues: HarIssue[],
): Correlation => {
  const positions = new Map(entries.map(({ index }, position) => [index, position]));
  const takes = new Map<number, HarTake[]>();
  const substitutions = new Map<number, Substitution[]>();
  const pairs = new Set<string>();
  for (const [slot, rule] of rules.entries()) {
    const take = takeOf(rule, slot, { entries, positions, issues });
    const from = positions.get(rule.from.entryIdx);
    if (take === undefined || from === undefined) continue;
    takes.set(from, [...(takes.get(from) ?? []), take]);
    for (const [i, { entryIdx, part, match }] of rule.to.entries()) {
      const path = ['correlate', slot, 'to', i];
      const to = positions.get(entryIdx);
      const report = (code: string, message: string) => void issues.push({ severity: 'error', path, code, message });
      if (to === undefined || to <= from) {
        report('ENTRY_NOT_PLAYED', `entry ${entryIdx} is not played, or not after entry ${rule.from.entryIdx}`);
        continue;
      }
      const onMissing = () => report('MATCH_MISSING', `"${match}" is not in the ${part} of entry ${entryIdx}`);
      substitutions.set(to, [...(substitutions.get(to) ?? []), { slot, part, match, onMissing }]);
      pairs.add(`${from} ${to}`);
    }
  }
  return { takes, substitutions, gives: (from, to) => pairs.has(`${from} ${to}`) };
};
