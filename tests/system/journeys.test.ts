import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Shop, startShop } from '../engines/http/shop.ts';
import { type AgentProcess, metricOf, runToEnd, type System, startSystem } from './system.ts';

let system: System;
let shop: Shop;
let [near, far]: (AgentProcess | undefined)[] = [];
let dictionaryId: number;

const people = Array.from({ length: 40 }, (_, i) => [`user${i}`, `city${i}`]);

beforeAll(async () => {
  shop = await startShop();
  system = await startSystem();
  near = await system.addAgent('near');
  far = await system.addAgent('far');
  const dictionary = { name: 'people', type: 'table', selection: 'unique', columns: ['name', 'city'], rows: people };
  const { data } = await system.client.dictionaries.create({ body: dictionary as never });
  dictionaryId = data as number;
});
afterAll(async () => {
  await system?.close();
  await shop?.stop();
});

const steps = [
  {
    ...{ name: 'login', method: 'POST', path: '/login', body: { type: 'text', text: '{"name":"{{person.name}}"}' } },
    extract: [{ variable: 'token', from: 'json', expression: '$.token' }],
  },
  { kind: 'think', thinkMs: 5000 },
  {
    ...{ name: 'list', path: '/list?city={{person.city}}' },
    headers: [{ name: 'Authorization', value: 'Bearer {{token}}' }],
    checks: [{ kind: 'json', name: '$.items[0].id', value: '7' }],
  },
  { name: 'missing', path: '/broken', checks: [{ kind: 'status', value: '200' }] },
];

const taskOf = (journeySteps: readonly object[], more: object = {}) => ({
  comment: 'journeys',
  configuration: [
    {
      plugin: { id: 1 },
      values: {
        sources: [{ agent: { id: near?.id } }, { agent: { id: far?.id } }],
        targets: [{ ip: '127.0.0.1', ports: String(shop.port) }],
        rpsUnlimited: true,
        duration: { mode: 'time', seconds: 60 },
        httpParams: {
          connections: 6,
          journeys: [{ name: 'shop', dictionaries: [{ name: 'person', dictionaryId }], steps: journeySteps }],
          ...more,
        },
      },
    },
  ],
});

const triedOf = (journeySteps: readonly object[]) => ({ configuration: taskOf(journeySteps).configuration });

describe('journeys of two agents', () => {
  it('share the rows of a dictionary, and show each step in the results', async () => {
    const quick = steps.filter(({ kind }) => kind !== 'think');
    const { id, result } = await runToEnd(system.client, taskOf(quick, { traceExchanges: 2, traceFailed: true }));
    expect(result).toMatchObject({ status: 7, error: '' });
    const lists = shop.received.filter(({ url }) => url.startsWith('/list'));
    expect(lists.map(({ url }) => url).toSorted()).toEqual(people.map(([, city]) => `/list?city=${city}`).toSorted());
    for (const { url, authorization } of lists) {
      expect(authorization).toBe(`Bearer t-${url.replace('/list?city=city', 'user')}`);
    }
    const sumOf = (metric: string) => metricOf(result, 'client', metric)?.['sum'];
    expect(sumOf('http.iterations')).toBe(40);
    expect(sumOf('http.journeyFailed.shop')).toBe(40);
    for (const step of ['login', 'list', 'missing']) expect(sumOf(`http.stepRequests.shop.${step}`), step).toBe(40);
    expect(sumOf('http.stepChecksFailed.shop.missing')).toBe(40);
    expect(sumOf('http.stepChecksFailed.shop.list') ?? 0).toBe(0);
    expect(metricOf(result, 'client', 'http.stepLatency.shop.list')?.['count']).toBe(40);
    const params = { id, runId: result.id };
    const { data } = await system.client.tasks.runAgents({ params, query: { table: 'exchanges' } });
    expect(data).toHaveLength(4);
    for (const row of data) {
      expect(row).toMatchObject({ state: 'failed', cells: { step: 'missing', problem: 'failed check: status 200' } });
    }
  });

  it('are tried once with every request, answer and variable, and leave nothing behind', async () => {
    const before = await system.client.tasks.list({ query: { deleted: 'all' } });
    const { data } = await system.client.tasks.try({ body: triedOf(steps) as never });
    expect(data).toMatchObject({ status: 7, error: '' });
    expect(data.exchanges).toMatchObject([
      {
        ...{ step: 'login', state: 'ok', status: 200, variables: { 'person.name': 'user0' } },
        extracted: { token: 't-user0' },
      },
      { step: 'list', state: 'ok', path: '/list?city=city0', variables: { token: 't-user0', 'person.city': 'city0' } },
      { step: 'missing', state: 'failed', status: 500, problem: 'failed check: status 200' },
    ]);
    expect(data.exchanges[0]?.request).toContain('{"name":"user0"}');
    expect(data.exchanges[1]?.response).toContain('"items":[{"id":7}');
    const first = await system.client.tasks.try({ body: { ...triedOf(steps), step: 0 } as never });
    expect(first.data.exchanges.map(({ step }) => step)).toEqual(['login']);
    const after = await system.client.tasks.list({ query: { deleted: 'all' } });
    expect(after.data.map(({ id }) => id)).toEqual(before.data.map(({ id }) => id));
  });

  it('are tried against the server of an agent', async () => {
    const [entry] = taskOf([{ name: 'home', path: '/' }]).configuration;
    const values = { ...entry?.values, targets: [{ agent: { id: far?.id }, ports: String(far?.port) }] };
    const { data } = await system.client.tasks.try({ body: { configuration: [{ ...entry, values }] } as never });
    expect(data.exchanges).toMatchObject([{ step: 'home', state: 'ok', status: 200 }]);
  });

  it('are refused where there is no journey', async () => {
    const tried = system.client.tasks.try({ body: { ...triedOf(steps), journey: 3 } as never });
    await expect(tried).rejects.toMatchObject({ status: 400 });
  });
});
