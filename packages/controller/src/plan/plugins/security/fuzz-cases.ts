import type { FuzzingValues } from '@rushhour/contract';
import type { Attempt } from '@rushhour/protocol';
import { type FuzzRules, fuzzCase, type PayloadPosition } from '../../../security/fuzzing/fuzz-case.ts';
import { brokenRule } from '../../../security/fuzzing/protocol-rules.ts';
import type { BaselineSession } from '../../../security/fuzzing/recorded-session.ts';
import { seededBytes } from '../../../security/signatures/expressions/seeded-bytes.ts';
import { answerPatternProblem } from '../../../security/verdicts/block-page.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { dictionaryValues } from '../payloads.ts';
import { exchangeWith } from './fuzz-baseline.ts';
import { partsOf, type SessionPart } from './fuzz-parts.ts';

type Params = FuzzingValues['fuzzingParams'];

/** A session of which something may be changed. */
interface Changeable {
  readonly session: BaselineSession;
  readonly parts: readonly SessionPart[];
}

const maxCases = 50_000;

const hasBadPattern = (scope: PlanScope, { targets }: Params): boolean =>
  targets.some(({ keysRegex = '' }, i) => {
    const problem = answerPatternProblem(keysRegex);
    const path = pointerIn(scope, 'fuzzingParams', 'targets', i, 'keysRegex');
    if (problem !== undefined) scope.issues.error(path, 'BAD_REGEX', problem);
    return problem !== undefined;
  });

/** Every target must find something: one that finds nothing would be left out silently. */
const reportIdleTargets = (scope: PlanScope, { targets }: Params, sessions: readonly BaselineSession[]): void => {
  for (const [i, spot] of targets.entries()) {
    if (sessions.some((session) => partsOf(session, [spot], false).length > 0)) continue;
    scope.issues.error(pointerIn(scope, 'fuzzingParams', 'targets', i), 'NO_PART', 'the request has no such part');
  }
};

const changeablesOf = (scope: PlanScope, params: Params, sessions: readonly BaselineSession[]): Changeable[] => {
  if (sessions.length === 0 || hasBadPattern(scope, params)) return [];
  reportIdleTargets(scope, params, sessions);
  return sessions
    .map((session) => ({ session, parts: partsOf(session, params.targets, sessions.length === 1) }))
    .filter(({ parts }) => parts.length > 0);
};

const rulesOf = (scope: PlanScope, { seed, mutators, payloads, place, mode }: Params): FuzzRules => {
  const own = payloads.dictionaryIds.flatMap(
    (id, i) => dictionaryValues(scope, id, pointerIn(scope, 'fuzzingParams', 'payloads', 'dictionaryIds', i)) ?? [],
  );
  return {
    ...{ seed, mutators, words: [...payloads.values, ...own] },
    position: place as PayloadPosition,
    isMultiple: mode === 'multiple',
  };
};

/** What the device should do with a case, and why. */
const expectationOf = (scope: PlanScope, { baseline }: Params) => {
  const signature = baseline.kind === 'signature' ? scope.input.signatures.get(baseline.id ?? 0) : undefined;
  const isAttack = signature?.expect.action === 'block';
  return (exchange: Attempt['exchange']): Pick<Attempt, 'expected' | 'category'> => {
    const rule = brokenRule(exchange);
    if (rule !== undefined) return { expected: 'block', category: rule.slice(0, 64) };
    return isAttack ? { expected: 'block', category: signature.category } : { expected: 'allow', category: 'fuzzing' };
  };
};

interface Baseline {
  readonly sessions: readonly BaselineSession[];
  readonly service: string;
}

/** All cases of a run; each follows from seed and number alone. */
export const casesOf = (scope: PlanScope, params: Params, { sessions, service }: Baseline): Omit<Attempt, 'id'>[] => {
  const changeables = changeablesOf(scope, params, sessions);
  if (changeables.length === 0) return [];
  if (params.maxCases > maxCases) {
    const message = `at most ${maxCases} cases can be planned at once: another seed makes others`;
    scope.issues.error(pointerIn(scope, 'fuzzingParams', 'maxCases'), 'TOO_MANY_CASES', message);
    return [];
  }
  const rules = rulesOf(scope, params);
  const expected = expectationOf(scope, params);
  return Array.from({ length: params.maxCases }, (_, number): Omit<Attempt, 'id'> => {
    const chance = seededBytes(`${params.seed}/session/${number}`);
    const { session, parts } = changeables[chance.below(changeables.length)] as Changeable;
    const { changed, changes } = fuzzCase(parts, rules, number);
    const exchange = exchangeWith(session, parts, changed);
    return {
      kind: 'fuzz',
      refId: params.baseline.kind === 'signature' ? (params.baseline.id ?? 0) : 0,
      refName: `case ${number} of seed ${params.seed}`,
      variant: changes.join(', ').slice(0, 256),
      ...expected(exchange),
      severity: 'info',
      techniques: [],
      direction: 'c2s',
      service,
      exchange,
    };
  });
};
