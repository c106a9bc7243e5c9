import type { ApplicationParameter, ApplicationValues } from '@rushhour/contract';
import { createDraw, DraftError, findDictionaryReference, issuesOfParameter } from '@rushhour/pools';
import type { ApplicationPlay, PlayedDictionary, PlayedParameter } from '@rushhour/protocol';
import type { PlanApplication } from '../../core/plan-input.ts';
import type { PlanScope } from '../../core/plan-scope.ts';
import { playedTable } from '../played-table.ts';

type Played = ApplicationValues['applicationParams']['applications'][number];

/** The dictionaries that agents need, by id. */
export type TableBook = Map<number, PlayedDictionary>;

interface Work {
  readonly given: Played;
  readonly application: PlanApplication;
  /** JSON pointer of the application in the task. */
  readonly path: string;
  readonly users: number;
  readonly sessions: ApplicationPlay['sessions'];
  readonly tables: TableBook;
}

/** Parameters with the values of the task; undefined, with issues, when one is not valid. */
export const parametersOf = (scope: PlanScope, work: Work): PlayedParameter[] | undefined => {
  const { application, given, path } = work;
  const overrides = overridesOf(scope, work);
  let isValid = overrides !== undefined;
  const parameters = application.parameters.map((parameter) => {
    const at = given.parameters.findIndex(({ name }) => name === parameter.name);
    const location = at < 0 ? `${path}/applicationId` : `${path}/parameters/${at}`;
    const changed = { ...parameter, ...overrides?.get(parameter.name) };
    for (const { message, severity } of issuesOfParameter(changed)) {
      if (severity !== 'error') continue;
      scope.issues.error(location, 'VALUE_UNFIT', `parameter ${parameter.name}: ${message}`);
      isValid = false;
    }
    if (changed.source === 'dictionary') isValid = takeTable(scope, changed, location, work) && isValid;
    return playedParameter(changed);
  });
  if (!extractsArePlayed(scope, work)) isValid = false;
  return isValid ? parameters : undefined;
};

type Override = Pick<ApplicationParameter, 'source' | 'defaultValue'>;

const overridesOf = (scope: PlanScope, work: Work): ReadonlyMap<string, Override> | undefined => {
  const { application, given, path } = work;
  const { issues } = scope;
  const overrides = new Map<string, Override>();
  let isValid = true;
  const refuse = (location: string, code: string, message: string) => {
    issues.error(location, code, message);
    isValid = false;
  };
  given.parameters.forEach(({ name, value, dictionaryId, column }, index) => {
    const location = `${path}/parameters/${index}`;
    if (application.lockParameters) refuse(location, 'PARAMETERS_LOCKED', `"${application.name}" keeps its own values`);
    if (!application.parameters.some((parameter) => parameter.name === name)) {
      refuse(`${location}/name`, 'PARAMETER_UNKNOWN', `"${application.name}" has no parameter ${name}`);
    }
    if (value !== undefined) overrides.set(name, { source: 'fixed', defaultValue: value });
    else if (dictionaryId === undefined) {
      refuse(`${location}/value`, 'VALUE_MISSING', `parameter ${name} has neither a value nor a dictionary`);
    } else {
      const first = column ?? firstColumn(scope, dictionaryId);
      overrides.set(name, { source: 'dictionary', defaultValue: `dict/${dictionaryId}/${first}` });
    }
  });
  return isValid ? overrides : undefined;
};

const firstColumn = (scope: PlanScope, id: number): string => {
  const draft = scope.input.applications.tables.get(id)?.draft;
  try {
    return (draft && createDraw(draft, { seed: '' }).columns[0]) ?? 'value';
  } catch (error) {
    if (!(error instanceof DraftError) && !(error instanceof RangeError)) throw error;
    return 'value';
  }
};

/** Makes sure that there are rows for all, and puts the dictionary among those that agents need. */
const takeTable = (scope: PlanScope, parameter: ApplicationParameter, path: string, work: Work): boolean => {
  const { issues, input } = scope;
  const reference = findDictionaryReference(parameter.defaultValue);
  if (reference === undefined) return false;
  const table = input.applications.tables.get(reference.dictionaryId);
  const refuse = (code: string, message: string) => {
    issues.error(path, code, `parameter ${parameter.name}: ${message}`);
    return false;
  };
  if (table === undefined) return refuse('DICTIONARY_UNKNOWN', `there is no dictionary ${reference.dictionaryId}`);
  if (table.draft === undefined) return refuse('DICTIONARY_UNREADABLE', table.problem ?? 'cannot be read');
  try {
    const draw = createDraw(table.draft, { seed: '', users: work.users });
    if (!draw.columns.includes(reference.column)) {
      return refuse('COLUMN_UNKNOWN', `"${table.name}" has no column ${reference.column}`);
    }
    if (draw.size === 0n) return refuse('DICTIONARY_EMPTY', `"${table.name}" has no rows`);
    const last = { user: work.users - 1, iteration: Math.max(1, work.given.iterations) - 1 };
    if (draw.value(last, reference.column) === undefined) {
      const wanted = work.users * (last.iteration + 1);
      return refuse('DICTIONARY_TOO_SHORT', `"${table.name}" has ${draw.size} rows; ${wanted} are drawn, each once`);
    }
  } catch (error) {
    if (!(error instanceof DraftError) && !(error instanceof RangeError)) throw error;
    return refuse('DICTIONARY_UNREADABLE', error.message);
  }
  work.tables.set(reference.dictionaryId, playedTable(reference.dictionaryId, table.draft));
  return true;
};

const extractsArePlayed = (scope: PlanScope, { application, sessions, path }: Work): boolean => {
  const played = new Set(sessions.map(({ sessionIndex }) => sessionIndex));
  const lost = application.parameters.filter(
    ({ source, extractSessionIdx, stepsMappings }) =>
      source === 'extract' &&
      !played.has(extractSessionIdx) &&
      stepsMappings.some(({ sessionIdx }) => played.has(sessionIdx)),
  );
  for (const { name, extractSessionIdx } of lost) {
    const message = `parameter ${name} takes its value from session ${extractSessionIdx}, which is not played`;
    scope.issues.error(`${path}/sessions`, 'EXTRACT_NOT_PLAYED', message);
  }
  return lost.length === 0;
};

const playedParameter = (parameter: ApplicationParameter): PlayedParameter => {
  const { id, name, type, source, prefix, defaultValue, min, max, start, step, allowedValues } = parameter;
  const extract = {
    sessionIdx: parameter.extractSessionIdx,
    stepIdx: parameter.extractStepIdx,
    offset: parameter.extractOffset,
    length: parameter.extractLength,
  };
  return {
    ...{ id, name, type, source, prefix, defaultValue, min, max, start, step, allowedValues },
    ...(source === 'extract' && { extract }),
    stepsMappings: parameter.stepsMappings.map(({ sessionIdx, stepIdx, offset, length }) => ({
      ...{ sessionIdx, stepIdx, offset, length },
    })),
  };
};
