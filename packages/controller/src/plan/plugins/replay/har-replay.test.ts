import { describe, expect, it } from 'vitest';
import type { PlanRecording } from '../../core/plan-input.ts';
import { configProblems } from '../../testing/engine-check.ts';
import { sidesOf } from '../../testing/plan-fixture.ts';

const [scriptSha, answersSha] = ['aa'.repeat(32), 'bb'.repeat(32)];
const recording: PlanRecording = {
  client: { sha256: scriptSha, size: 10 },
  server: { sha256: answersSha, size: 20 },
  summary: {
    origins: [
      { host: 'app.test', port: 443, isTls: true },
      { host: 'cdn.app.test', port: 443, isTls: true },
      { host: 'app.test', port: 8080, isTls: false },
    ],
    entries: 9,
    requestBytes: 100,
    answerBytes: 1000,
  },
  warnings: [{ code: 'HAR_WEBSOCKET', message: '1 entry is left out' }],
  issues: [],
};
const file = { name: 'site.har', sha256: 'cc'.repeat(32), size: 500, isReady: true };

const planned = (values: Record<string, unknown> = {}, made: PlanRecording = recording, kept = file) => {
  const { harReplayParams, ...more } = values as { harReplayParams?: object };
  return sidesOf(
    9,
    { harReplayParams: { fileId: 1, ...harReplayParams }, ...more },
    { files: new Map([[1, kept]]), recordings: new Map([['/configuration/0', made]]) },
  );
};

describe('the plan of a recording', () => {
  it('gives each side its file and the server the names it answers to', () => {
    const { client, server, plan, issues } = planned({ harReplayParams: { users: 5, loop: true, cache: true } });
    expect(client).toMatchObject({
      script: { $file: scriptSha, as: 'path' },
      targets: [{ host: '10.0.0.2', port: 18090, place: 0 }],
      ...{ users: 5, iterations: 0, cache: true, marks: true, places: [[], [], []] },
    });
    expect(server).toMatchObject({
      answers: { $file: answersSha, as: 'path' },
      names: ['app.test', 'cdn.app.test'],
      listen: [{ port: 18090 }],
    });
    expect(plan.agents.map(({ agentId, files }) => [agentId, files])).toEqual([
      [2, [{ sha256: answersSha, size: 20 }]],
      [1, [{ sha256: scriptSha, size: 10 }]],
    ]);
    expect(plan.agents.flatMap(({ jobs }) => jobs.flatMap(({ job }) => configProblems(job)))).toEqual([]);
    expect(issues).toEqual(['warning harReplayParams/fileId HAR_WEBSOCKET']);
    expect(plan.notes).toEqual(['1 entry is left out']);
  });

  it('plays HTTP/3 as such where TLS 1.3 carries it, and otherwise over HTTP/2', () => {
    const http3: PlanRecording = { ...recording, summary: { ...recording.summary, usesHttp3: true }, warnings: [] };
    const both = planned({}, http3);
    expect([both.client['http3'], both.server['http3'], both.issues]).toEqual([true, true, []]);
    const older = planned({ tlsParams: { versions: ['1.2'] } }, http3);
    expect(older.client['http3']).toBe(false);
    expect(older.issues).toContain('warning harReplayParams/httpVersion HAR_HTTP3');
    for (const values of [
      { tlsParams: { versions: ['1.2'] }, harReplayParams: { httpVersion: '3' } },
      { harReplayParams: { httpVersion: '3', tls: 'off' } },
    ]) {
      expect(planned(values, http3).issues).toContain('harReplayParams/httpVersion NOT_SUPPORTED');
    }
  });

  it('leads hosts to the targets they are mapped to', () => {
    const targets = [{ agent: { id: 2 } }, { ip: '10.9.9.9', ports: '80,443' }];
    const hostMap = [
      { from: 'app.test:8080', to: '1' },
      { from: '*.app.test', to: '1' },
      { from: 'app.test', to: 'server' },
    ];
    const { client } = planned({ targets, harReplayParams: { hostMap } });
    expect(client['places']).toEqual([[0], [1], [1]]);
    expect(client['targets']).toMatchObject([
      { host: '10.0.0.2', place: 0 },
      { host: '10.9.9.9', port: 80, place: 1 },
      { host: '10.9.9.9', port: 443, place: 1 },
    ]);
    const unknown = planned({ harReplayParams: { hostMap: [{ from: 'app.test', to: '7' }] } });
    expect(unknown.issues).toContain('harReplayParams/hostMap/0/to TARGET_UNKNOWN');
  });

  it('tells what is wrong with a recording', () => {
    const broken = planned({}, { problem: { code: 'HAR_BROKEN', message: 'is no HAR' } });
    expect(broken.issues).toEqual(['harReplayParams/fileId HAR_BROKEN']);
    expect(planned({}, recording, { ...file, size: 1e12 }).issues).toContain('harReplayParams/fileId FILE_TOO_LARGE');
    expect(planned({}, recording, { ...file, isReady: false }).issues).toContain('harReplayParams/fileId FILE_MISSING');
    const path = ['correlate', 0, 'to', 1];
    const issue = { severity: 'error' as const, path, code: 'MATCH_MISSING', message: 'is not there' };
    expect(planned({}, { ...recording, issues: [issue] }).issues).toContain(
      'harReplayParams/correlate/0/to/1 MATCH_MISSING',
    );
  });

  it('divides users over those who send, each with values of its own', () => {
    const sources = [{ agent: { id: 1 } }, { agent: { id: 2 } }];
    const { plan } = planned({ sources, sessionsPerSecond: 10, harReplayParams: { users: 5 } });
    const clients = plan.agents.flatMap(({ jobs }) => jobs.filter(({ role }) => role === 'client'));
    const parts = clients.map(({ job }) => job.config as Record<string, number>);
    expect(parts.map(({ users, firstUser, usersPerSecond }) => [users, firstUser, usersPerSecond]).sort()).toEqual([
      [2, 5, 5],
      [3, 0, 5],
    ]);
  });

  it('takes the values of variables from dictionaries', () => {
    const variables = [{ name: 'user', dictionaryId: 4 }];
    const files = new Map([[1, file]]);
    const recordings = new Map([['/configuration/0', recording]]);
    const dictionaries = new Map([[4, { name: 'd', values: ['ann', 'bob'], isCut: false }]]);
    const values = { harReplayParams: { fileId: 1, variables } };
    expect(sidesOf(9, values, { files, recordings, dictionaries }).client['variables']).toEqual([['ann', 'bob']]);
    const columns = { user: ['ann', 'bob', 'ann'], password: ['1', '2', '3'] };
    const table = new Map([[4, { name: 'd', values: ['ann', 'bob'], columns, isCut: false }]]);
    const two = [
      { name: 'u', dictionaryId: 4 },
      { name: 'p', dictionaryId: 4, column: 'password' },
    ];
    const both = { harReplayParams: { fileId: 1, variables: two } };
    expect(sidesOf(9, both, { files, recordings, dictionaries: table }).client['variables']).toEqual([
      columns.user,
      columns.password,
    ]);
    for (const column of ['password', 'toString']) {
      const unknown = { harReplayParams: { fileId: 1, variables: [{ name: 'u', dictionaryId: 4, column }] } };
      expect(sidesOf(9, unknown, { files, recordings, dictionaries }).issues).toContain(
        'harReplayParams/variables/0/column COLUMN_UNKNOWN',
      );
    }
    expect(sidesOf(9, values, { files, recordings }).issues).toContain(
      'harReplayParams/variables/0/dictionaryId DICTIONARY_UNKNOWN',
    );
  });
});
