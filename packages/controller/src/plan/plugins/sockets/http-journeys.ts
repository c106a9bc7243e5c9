import { type HttpValues, isSecretHeader, type JourneyStepValues, type JourneyValues } from '@rushhour/contract';
import type { Journey, JourneyStep, Journeys, PlayedDictionary } from '@rushhour/protocol';
import type { ClientPart } from '../../core/load/traffic.ts';
import { type PlanScope, pointerIn } from '../../core/plan-scope.ts';
import { drawnTable } from '../drawn-text.ts';
import { payloadAt } from '../payloads.ts';
import { reportTexts } from './journey-texts.ts';

type PlannedStep = Omit<JourneyStep, 'body'> & { readonly body?: object };
type PlannedJourney = Omit<Journey, 'steps'> & { readonly steps: readonly PlannedStep[] };

/** The journeys of an entry, the same for all clients. */
export interface PlannedJourneys {
  readonly journeys: readonly PlannedJourney[];
  readonly dictionaries: readonly PlayedDictionary[];
  readonly trace?: NonNullable<Journeys['trace']>;
}

const containers = new Set(['group', 'repeat', 'branch', 'parallel']);

/** Part of the name of a metric. */
const slugOf = (text: string): string => text.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');

/** Names for metrics, each once. */
const uniqueNames = (wanted: readonly string[]): string[] => {
  const seen = new Set<string>();
  return wanted.map((name) => {
    let own = name;
    for (let n = 2; seen.has(own); n++) own = `${name}-${n}`;
    seen.add(own);
    return own;
  });
};

const stepName = ({ name, kind, method, path }: JourneyStepValues): string =>
  slugOf(name) || (kind === 'request' ? slugOf(`${method} ${path}`).slice(0, 64) : kind) || kind;

/** Names of the headers whose values are credentials, in lower case. */
const credentialsOf = ({ headers, journeys }: HttpValues['httpParams']): string[] => {
  const all = [...headers, ...journeys.flatMap(({ steps }) => steps.flatMap((step) => step.headers))];
  return [...new Set(all.map(({ name }) => name.toLowerCase()).filter(isSecretHeader))];
};

/** Undefined without journeys; problems are reported as issues. */
export const planJourneys = (scope: PlanScope, { httpParams }: HttpValues): PlannedJourneys | undefined => {
  const { journeys, traceExchanges: exchanges, traceFailed: onlyFailed } = httpParams;
  if (journeys.length === 0) return undefined;
  const names = uniqueNames(journeys.map(({ name }, index) => slugOf(name) || `journey${index + 1}`));
  const extracted = new Set(
    journeys.flatMap(({ steps }) => steps.flatMap(({ extract }) => extract.map(({ variable }) => variable))),
  );
  const tables = new Map<number, PlayedDictionary>();
  return {
    journeys: journeys.map((journey, index) => {
      const path = pointerIn(scope, 'httpParams', 'journeys', index);
      const columns = takeTables(scope, journey, path, tables);
      reportTexts(scope.issues, { journey, path, columns, extracted });
      return planJourney(scope, { journey, index, path, name: names[index] as string });
    }),
    dictionaries: [...tables.values()],
    ...(exchanges > 0 && { trace: { exchanges, onlyFailed, hiddenHeaders: credentialsOf(httpParams) } }),
  };
};

interface JourneyWork {
  readonly journey: JourneyValues;
  readonly index: number;
  readonly path: string;
  readonly name: string;
}

const planJourney = (scope: PlanScope, { journey, index, path, name }: JourneyWork): PlannedJourney => {
  const { weight, endOnFailure, variables, dictionaries, steps } = journey;
  if (!steps.some(({ kind }) => kind === 'request')) {
    scope.issues.error(`${path}/steps`, 'REQUEST_MISSING', 'a journey has at least one request');
  }
  const names = uniqueNames(steps.map(stepName));
  return {
    ...{ name, weight, endOnFailure, variables: [...variables] },
    dictionaries: dictionaries.map((one) => ({ name: one.name, id: one.dictionaryId })),
    steps: steps.map((step, at) => {
      const { inside: _, body, ...rest } = step;
      const parent = parentOf(scope, { steps, at, path: `${path}/steps/${at}` });
      const planned = body && payloadAt(scope, body, 'httpParams', 'journeys', index, 'steps', at, 'body');
      return { ...rest, name: names[at] as string, parent, ...(planned && { body: planned.payload }) };
    }),
  };
};

interface StepWork {
  readonly steps: readonly JourneyStepValues[];
  readonly at: number;
  readonly path: string;
}

/** Position of the step that a step is in; -1 for none, also after an issue. */
const parentOf = ({ issues }: PlanScope, { steps, at, path }: StepWork): number => {
  const { inside, name, kind, checks } = steps[at] as JourneyStepValues;
  const refuse = (member: string, code: string, message: string): -1 => {
    issues.error(`${path}/${member}`, code, message);
    return -1;
  };
  if (name !== '' && steps.findIndex((step) => step.name === name) < at) {
    refuse('name', 'NAME_TAKEN', `another step before it is called "${name}"`);
  }
  if (containers.has(kind) && name === '')
    refuse('name', 'REQUIRED', `is required: steps name the ${kind} they are in`);
  if (kind === 'branch' && checks.length === 0) refuse('checks', 'REQUIRED', 'is required: a branch decides by them');
  if (containers.has(kind) && !steps.some((step) => step.inside !== '' && step.inside === name)) {
    issues.warning(path, 'STEP_EMPTY', `there are no steps inside the ${kind}`);
  }
  if (inside === '') return -1;
  const parent = steps.findIndex((step, index) => index < at && step.name === inside);
  const holder = steps[parent];
  if (holder === undefined) return refuse('inside', 'STEP_UNKNOWN', `there is no step "${inside}" before it`);
  if (!containers.has(holder.kind)) return refuse('inside', 'STEP_UNFIT', `"${inside}" is a ${holder.kind}`);
  if (holder.kind === 'parallel' && kind !== 'request') {
    return refuse('kind', 'STEP_UNFIT', 'only requests can be inside a parallel step');
  }
  return parent;
};

/** The columns of the dictionaries of a journey, by name; the dictionaries go among those that agents need. */
const takeTables = (
  scope: PlanScope,
  { dictionaries }: JourneyValues,
  path: string,
  tables: Map<number, PlayedDictionary>,
): ReadonlyMap<string, readonly string[] | undefined> => {
  const columnsOf = (id: number, at: string): readonly string[] | undefined => {
    const table = drawnTable(scope, id, at);
    if (table !== undefined) tables.set(id, table.dictionary);
    return table?.columns;
  };
  return new Map(
    dictionaries.map(({ name, dictionaryId }, index) => [
      name,
      columnsOf(dictionaryId, `${path}/dictionaries/${index}/dictionaryId`),
    ]),
  );
};

/** The journeys of one client. Users are numbered for each agent; agents share the rows of a dictionary. */
export const journeysFor = (
  { input, entry }: PlanScope,
  planned: PlannedJourneys,
  { position }: ClientPart,
  users: number,
): Omit<Journeys, 'journeys' | 'dictionaries'> & PlannedJourneys => ({
  ...planned,
  seed: `task ${input.definition.taskId} ${entry.path}`,
  firstUser: 0,
  users,
  agentIndex: position.index,
  agentCount: position.count,
});
