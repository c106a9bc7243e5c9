import { type Static, Type } from 'typebox';
import { membersFor } from '../../../schema.ts';
import { choice, flag, text, whole } from '../../protocols/field.ts';
import { headers } from './http-params.ts';
import { optionalPayload } from './payload.ts';
import { idOf } from './reference.ts';
import { item, listOf, milliseconds, optionalNumber } from './values.ts';

export const stepKinds = ['request', 'think', 'group', 'repeat', 'branch', 'parallel'] as const;
export const checkKinds = ['status', 'header', 'contains', 'regex', 'json', 'size', 'time'] as const;

const variablePattern = '^[A-Za-z][A-Za-z0-9_]{0,63}$';
const variableName = (description: string) => Type.String({ description, pattern: variablePattern, maxLength: 64 });

const check = item({
  kind: choice(
    'status: one of the statuses in `value`, such as 200,300-399; header: `name` has `value`; contains: the body holds `value`; regex: the body fits `value`; json: the JSON path `name` has `value`; size: bytes of the body; time: milliseconds from the request to the end of the answer',
    checkKinds,
  ),
  ...membersFor(
    { kind: ['header', 'json'] },
    { name: text('Name of the header, or the JSON path, such as $.items[0].id') },
  ),
  ...membersFor(
    { kind: ['status', 'header', 'contains', 'regex', 'json'] },
    { value: text('What is expected; of a header or a JSON path, empty: it only has to be there', '', 4096) },
  ),
  ...membersFor(
    { kind: ['size', 'time'] },
    {
      min: optionalNumber('Smallest size or time', { minimum: 0, maximum: 1e12 }),
      max: optionalNumber('Largest size or time', { minimum: 0, maximum: 1e12 }),
    },
  ),
});

const extraction = item({
  variable: variableName('Variable that gets the value'),
  from: choice('Part of the answer', ['json', 'regex', 'header', 'cookie']),
  expression: Type.String({
    minLength: 1,
    maxLength: 4096,
    description: 'JSON path; RE2 pattern, whose first group is taken; name of the header or of the cookie',
  }),
});

const requestMembers = {
  method: Type.String({ default: 'GET', pattern: '^[A-Z]{1,32}$', description: 'Method' }),
  path: Type.String({
    default: '/',
    maxLength: 8192,
    pattern: '^(/|\\{\\{)[^\\r\\n]*$',
    description: 'Path with query. This and every other text may hold variables, such as {{user.name}}',
  }),
  headers: headers('Headers of the request, beside those of all requests'),
  body: optionalPayload('Body of the request; a text may hold variables'),
};

const thinkMembers = {
  thinkMs: milliseconds('Pause; the mean of a distribution', 1000),
  thinkMaxMs: milliseconds('Longest pause', 0),
  distribution: choice(
    'fixed: `thinkMs`; uniform: between `thinkMs` and `thinkMaxMs`; normal and exponential: around `thinkMs`, at most `thinkMaxMs` unless 0',
    ['fixed', 'uniform', 'normal', 'exponential'],
  ),
};

const step = item({
  name: text('Shown in results; method and path of a request when empty', '', 64),
  kind: choice(
    'request; think: a pause; group: steps that are measured together; repeat: its steps `count` times; branch: its steps if `checks` hold for the answer before; parallel: its requests at the same time, as browsers do',
    stepKinds,
  ),
  inside: text('Name of the group, repeat, branch or parallel step before it that this step belongs to', '', 64),
  when: choice('In a branch: part of which side', ['holds', 'fails']),
  once: flag('Only until it has succeeded once for a user, such as signing in'),
  ...membersFor({ kind: ['request'] }, requestMembers),
  ...membersFor({ kind: ['request', 'branch'] }, { checks: listOf('What must hold for the answer', check, 50) }),
  ...membersFor({ kind: ['request'] }, { extract: listOf('Values that later steps use', extraction, 50) }),
  ...membersFor({ kind: ['think'] }, thinkMembers),
  ...membersFor(
    { kind: ['repeat'] },
    {
      count: Type.Integer({
        default: 2,
        minimum: 1,
        maximum: 100_000,
        description: 'How often a repeat runs its steps',
      }),
    },
  ),
});
export type JourneyStepValues = Static<typeof step>;

const journey = item({
  name: text('Shown in results', '', 64),
  weight: Type.Number({ default: 1, exclusiveMinimum: 0, maximum: 1_000_000, description: 'Share of the iterations' }),
  endOnFailure: flag('An iteration ends at the first request that fails'),
  variables: listOf(
    'Variables with a fixed value',
    item({ name: variableName('Name'), value: Type.String({ maxLength: 65_536 }) }),
    100,
  ),
  dictionaries: listOf(
    'Dictionaries: {{name.column}} is a column, {{name}} the first one. A row is drawn as the selection of the dictionary says',
    item({ name: variableName('Name'), dictionaryId: idOf('dictionary', 'The dictionary') }),
    20,
  ),
  steps: listOf('Steps in their order', step, 200),
});
export type JourneyValues = Static<typeof journey>;

/** What users of a site do. */
export const journeys = listOf(
  'Journeys of users, chosen by weight for every iteration, instead of the single request. `connections` are the users then, and `sessionsPerSecond` and `totalSessions` are of iterations',
  journey,
  20,
);

/** Which requests of journeys are kept with their answers. */
export const exchangeTrace = {
  traceExchanges: whole(
    'Requests of journeys that are kept with their answer and the variables they were sent with, by each agent; they are the table `exchanges` of the run',
    0,
    [0, 200],
  ),
  traceFailed: flag('Keep only requests that fail'),
};
