import { describe, expect, it } from 'vitest';
import { planRun } from '../../core/plan-run.ts';
import { entryOf, inputOf, sidesOf } from '../../testing/plan-fixture.ts';

const tables = new Map([
  [1, { name: 'people', draft: { id: 1, type: 'table', columns: ['name'], rows: [['a'], ['b']] } }],
  [2, { name: 'broken', problem: 'its file is gone' }],
]);
const applications = { byId: new Map(), tables };

const journeysOf = (...journeys: object[]) => ({ rpsUnlimited: true, httpParams: { connections: 4, journeys } });

const issuesOf = (...journeys: object[]) => {
  const values = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }], ...journeysOf(...journeys) };
  const { issues } = planRun(inputOf([entryOf(1, values)], { applications }));
  return issues
    .filter(({ severity }) => severity === 'error')
    .map(({ path, code }) => `${path.replace('/configuration/0/values/httpParams/', '')} ${code}`);
};

describe('journeys', () => {
  it('become steps with positions and names for metrics, and dictionaries go along', () => {
    const { client } = sidesOf(
      1,
      journeysOf({
        name: 'Buy a book!',
        dictionaries: [{ name: 'user', dictionaryId: 1 }],
        steps: [
          { kind: 'group', name: 'sign in' },
          { inside: 'sign in', path: '/login?u={{user.name}}' },
          { path: '/login', method: 'POST', body: { type: 'text', text: '{{user}} {{$iteration}}' } },
        ],
      }),
      { applications },
    );
    expect(client).toMatchObject({
      connections: 4,
      journeys: {
        users: 4,
        agentIndex: 0,
        agentCount: 1,
        dictionaries: [{ id: 1, type: 'table', selection: 'sequential', rows: [['a'], ['b']] }],
        journeys: [
          {
            name: 'Buy-a-book',
            dictionaries: [{ name: 'user', id: 1 }],
            steps: [
              { name: 'sign-in', kind: 'group', parent: -1 },
              { name: 'GET-login-u-user-name', parent: 0 },
              { name: 'POST-login', parent: -1, body: { type: 'text', data: '{{user}} {{$iteration}}' } },
            ],
          },
        ],
      },
    });
  });

  it('keep exchanges without the credentials of the task', () => {
    const steps = [{ headers: [{ name: 'X-Api-Key', value: 'k' }] }, { headers: [{ name: 'Accept', value: '*/*' }] }];
    const { httpParams } = journeysOf({ steps });
    const headers = [{ name: 'Authorization', value: 'Bearer x' }];
    const traced = { rpsUnlimited: true, httpParams: { ...httpParams, headers, traceExchanges: 9, traceFailed: true } };
    const { client } = sidesOf(1, traced, { applications });
    const trace = { exchanges: 9, onlyFailed: true, hiddenHeaders: ['authorization', 'x-api-key'] };
    expect(client).toMatchObject({ journeys: { trace } });
  });

  it('have every problem named', () => {
    const step = (more: object) => ({ path: '/', ...more });
    const found = issuesOf({
      dictionaries: [
        { name: 'user', dictionaryId: 1 },
        { name: 'gone', dictionaryId: 9 },
        { name: 'broken', dictionaryId: 2 },
      ],
      steps: [
        step({ name: 'a', path: '/{{nothing}}/{{user.age}}' }),
        step({ name: 'a', inside: 'later' }),
        step({ name: 'b', inside: 'a' }),
        step({ name: 'later', kind: 'parallel' }),
        step({ kind: 'think', inside: 'later' }),
        step({ kind: 'repeat' }),
        step({ name: 'c', kind: 'branch' }),
        step({ kind: 'think', distribution: 'uniform', thinkMs: 5, thinkMaxMs: 1 }),
        step({
          checks: [
            { kind: 'status', value: '2xx' },
            { kind: 'regex', value: '(' },
            { kind: 'json', name: '$[' },
            { kind: 'header' },
            { kind: 'size' },
            { kind: 'time', min: 2, max: 1 },
          ],
          extract: [{ variable: 'x', from: 'regex', expression: '[' }],
        }),
      ],
    });
    expect(found.toSorted()).toEqual(
      [
        'journeys/0/dictionaries/1/dictionaryId DICTIONARY_UNKNOWN',
        'journeys/0/dictionaries/2/dictionaryId DICTIONARY_UNREADABLE',
        'journeys/0/steps/0/path VARIABLE_UNKNOWN',
        'journeys/0/steps/0/path VARIABLE_UNKNOWN',
        'journeys/0/steps/1/inside STEP_UNKNOWN',
        'journeys/0/steps/1/name NAME_TAKEN',
        'journeys/0/steps/2/inside STEP_UNFIT',
        'journeys/0/steps/4/kind STEP_UNFIT',
        'journeys/0/steps/5/name REQUIRED',
        'journeys/0/steps/6/checks REQUIRED',
        'journeys/0/steps/7/thinkMaxMs RANGE_REVERSED',
        'journeys/0/steps/8/checks/0/value CHECK_INVALID',
        'journeys/0/steps/8/checks/1/value CHECK_INVALID',
        'journeys/0/steps/8/checks/2/name CHECK_INVALID',
        'journeys/0/steps/8/checks/3/name CHECK_INVALID',
        'journeys/0/steps/8/checks/4/max CHECK_INVALID',
        'journeys/0/steps/8/checks/5/max CHECK_INVALID',
        'journeys/0/steps/8/extract/0/expression EXTRACT_INVALID',
      ].toSorted(),
    );
    expect(issuesOf({ steps: [{ kind: 'think' }] })).toEqual(['journeys/0/steps REQUEST_MISSING']);
  });

  it('refuse members of the single request', () => {
    const values = { ...journeysOf({ steps: [{ path: '/a' }] }), requestInterval: 5 };
    const httpParams = { ...values.httpParams, method: 'POST', pipelining: 2 };
    const ends = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }] };
    const { issues } = planRun(inputOf([entryOf(1, { ...ends, ...values, httpParams })]));
    expect(issues.filter(({ code }) => code === 'NOT_SUPPORTED').map(({ path }) => path)).toEqual([
      '/configuration/0/values/httpParams/method',
      '/configuration/0/values/httpParams/pipelining',
      '/configuration/0/values/requestInterval',
    ]);
  });
});
