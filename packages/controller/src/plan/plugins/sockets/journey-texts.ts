import type { JourneyStepValues, JourneyValues } from '@rushhour/contract';
import { findJsonPath, findStatuses, journeySystemValues, journeyTemplateOf } from '@rushhour/protocol';
import { RE2JS } from 're2js';
import type { PlanIssues } from '../../core/plan-issues.ts';

interface TextWork {
  readonly journey: JourneyValues;
  readonly path: string;
  /** Columns by the name of the dictionary; undefined for one that cannot be read. */
  readonly columns: ReadonlyMap<string, readonly string[] | undefined>;
  /** Variables that a step of any journey extracts. */
  readonly extracted: ReadonlySet<string>;
}

interface Text {
  readonly path: string;
  readonly text: string;
}

const textsOf = ({ path, headers, body, checks }: JourneyStepValues, at: string): Text[] => [
  { path: `${at}/path`, text: path },
  ...headers.map(({ value }, i) => ({ path: `${at}/headers/${i}/value`, text: value })),
  ...(body?.type === 'text' ? [{ path: `${at}/body/text`, text: body.text ?? '' }] : []),
  ...checks.flatMap(({ kind, value }, i) =>
    kind === 'regex' || kind === 'status' ? [] : [{ path: `${at}/checks/${i}/value`, text: value }],
  ),
];

const problemOf = (name: string, { journey, columns, extracted }: TextWork): string | undefined => {
  const [owner = '', ...rest] = name.split('.');
  const column = rest.join('.');
  if (columns.has(owner)) {
    const known = columns.get(owner);
    if (column === '' || known === undefined || known.includes(column)) return undefined;
    return `dictionary "${owner}" has no column "${column}"; it has ${known.join(', ')}`;
  }
  const isKnown =
    extracted.has(name) ||
    journey.variables.some((variable) => variable.name === name) ||
    journeySystemValues.some((system) => system === name);
  return isKnown ? undefined : `there is no variable "${name}"`;
};

/** Why a pattern is not valid. */
const regexProblem = (pattern: string): string | undefined => {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return `is not a pattern: ${error instanceof Error ? error.message : String(error)}`;
  }
};

const jsonProblem = (path: string): string | undefined =>
  findJsonPath(path) === undefined ? 'is not a JSON path such as $.items[0].id' : undefined;

type Check = JourneyStepValues['checks'][number];

/** What is wrong with a check: the member and why. */
const checkProblem = ({ kind, name, value, min, max }: Check): readonly [string, string] | undefined => {
  switch (kind) {
    case 'status':
      return findStatuses(value) ? undefined : ['value', 'is not a list of statuses such as 200,300-399'];
    case 'header':
      return /^[\w!#$%&'*+.^`|~-]+$/.test(name) ? undefined : ['name', 'is required: the name of the header'];
    case 'contains':
      return value === '' ? ['value', 'is required: the text'] : undefined;
    case 'regex': {
      const problem = value === '' ? 'is required: the pattern' : regexProblem(value);
      return problem === undefined ? undefined : ['value', problem];
    }
    case 'json': {
      const problem = jsonProblem(name);
      return problem === undefined ? undefined : ['name', problem];
    }
    default:
      if (min === undefined && max === undefined) return ['max', 'is required, or min'];
      return (min ?? 0) > (max ?? Number.POSITIVE_INFINITY) ? ['max', 'is less than min'] : undefined;
  }
};

const reportStep = (issues: PlanIssues, step: JourneyStepValues, at: string): void => {
  step.checks.forEach((check, i) => {
    const problem = checkProblem(check);
    if (problem) issues.error(`${at}/checks/${i}/${problem[0]}`, 'CHECK_INVALID', problem[1]);
  });
  step.extract.forEach(({ from, expression }, i) => {
    const problem = from === 'json' ? jsonProblem(expression) : from === 'regex' ? regexProblem(expression) : undefined;
    if (problem !== undefined) issues.error(`${at}/extract/${i}/expression`, 'EXTRACT_INVALID', problem);
  });
  const isSpread = step.kind === 'think' && step.distribution === 'uniform';
  if (isSpread && step.thinkMaxMs < step.thinkMs) {
    issues.error(`${at}/thinkMaxMs`, 'RANGE_REVERSED', 'is less than thinkMs');
  }
};

/** Reports variables that do not exist, and checks and extractions that cannot work. */
export const reportTexts = (issues: PlanIssues, work: TextWork): void => {
  work.journey.steps.forEach((step, index) => {
    const at = `${work.path}/steps/${index}`;
    reportStep(issues, step, at);
    for (const { path, text } of textsOf(step, at)) {
      for (const name of journeyTemplateOf(text).names) {
        const problem = problemOf(name, work);
        if (problem !== undefined) issues.error(path, 'VARIABLE_UNKNOWN', problem);
      }
    }
  });
};
