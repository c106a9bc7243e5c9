import { describe, expect, it } from 'vitest';
import { planRun } from '../core/plan-run.ts';
import { entryOf, inputOf, sidesOf } from '../testing/plan-fixture.ts';

const draft = { id: 1, type: 'table', selection: 'unique', columns: ['name', 'city'], rows: [['a', 'b']] };
const applications = {
  byId: new Map(),
  tables: new Map([
    [1, { name: 'people', draft }],
    [2, { name: 'broken', problem: 'its file is gone' }],
  ]),
};

const issuesOf = (plugin: number, values: object) => {
  const ends = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }] };
  const { issues } = planRun(inputOf([entryOf(plugin, { ...ends, ...values })], { applications }));
  return issues
    .filter(({ severity }) => severity === 'error')
    .map(({ path, code }) => `${path.replace('/configuration/0/values/', '')} ${code}`);
};

describe('dictionaries that agents draw messages from', () => {
  const drawn = { dictionary: { id: 1, selection: 'unique', rows: [['a', 'b']] }, agentIndex: 0, agentCount: 1 };

  it('go along whole to both sides of tcp, with the text of the message', () => {
    const payload = { type: 'dictionary', dictionaryId: 1, text: '{{city}} {{$uuid}}' };
    const values = { payload, tcpConfiguration: { mode: 'echo', connections: 7 }, sessionsPerSecond: 1 };
    const { client, server } = sidesOf(2, values, { applications });
    expect(client).toMatchObject({ drawn: { ...drawn, users: 7, text: '{{city}} {{$uuid}}' } });
    expect(server).toMatchObject({ drawn: { ...drawn, users: 1 } });
  });

  it('go along to the flows of udp and to the queries of dns, whose server knows every name', () => {
    const payload = { type: 'dictionary', dictionaryId: 1 };
    const udp = sidesOf(3, { payload, packetsPerSecond: 10, totalSessions: 3 }, { applications });
    expect(udp.client).toMatchObject({ drawn: { ...drawn, users: 3, text: '' } });
    const dns = sidesOf(4, { dnsParams: { dictionaryId: 1, types: ['A'] }, requestsPerSecond: 1 }, { applications });
    expect(dns.client).toMatchObject({ drawn: { ...drawn, users: 1 } });
    expect(dns.server).toMatchObject({ answers: [{ name: '*', type: 'A' }] });
  });

  it('are refused when they are missing, unreadable or have no such column', () => {
    const tcp = (payload: object) => issuesOf(2, { payload: { type: 'dictionary', ...payload } });
    expect(tcp({})).toEqual(['payload/dictionaryId REQUIRED']);
    expect(tcp({ dictionaryId: 2 })).toEqual(['payload/dictionaryId DICTIONARY_UNREADABLE']);
    expect(tcp({ dictionaryId: 3 })).toEqual(['payload/dictionaryId DICTIONARY_UNKNOWN']);
    expect(tcp({ dictionaryId: 1, text: '{{age}}' })).toEqual(['payload/text VARIABLE_UNKNOWN']);
  });
});
