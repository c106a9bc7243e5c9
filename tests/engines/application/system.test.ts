import { readFileSync } from 'node:fs';
import type { RunAgent } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../process/free-port.ts';
import { type AgentProcess, runToEnd, type System, startSystem } from '../../system/system.ts';
import { forget, type Recording, recordNames, recordShop, stepsOf } from './capture.ts';
import { startHaproxy, startMeddler, startReverseProxy } from './proxies.ts';

let shop: Recording;
let names: Recording;
let system: System;
let alice: AgentProcess;
let bob: AgentProcess;
let shopId = 0;
let namesId = 0;

beforeAll(async () => {
  [shop, names] = [await recordShop(), await recordNames()];
  system = await startSystem({ tasks: { allowedTargets: ['127.0.0.0/8', '10.0.0.0/8'] } });
  [alice, bob] = [await system.addAgent('alice'), await system.addAgent('bob')];
  shopId = await applicationOf(shop, 'shop', await loginParameters());
  namesId = await applicationOf(names, 'names');
});

afterAll(async () => {
  await system?.close();
  for (const recording of [shop, names]) if (recording) forget(recording);
});

/** Users from a dictionary log in. */
const loginParameters = async () => {
  const rows = ['anna', 'bartholomew', 'cy', 'dorothea'];
  const { data: dictionaryId } = await system.client.dictionaries.create({
    body: { name: 'users', type: 'table', columns: ['login'], rows: rows.map((name) => [name]) },
  });
  const [question = ''] = await stepsOf(shop.file, 1);
  const mapping = { sessionIdx: 1, stepIdx: 0, side: 'client', offset: question.indexOf('anna'), length: 4 };
  return [
    { name: 'login', source: 'dictionary', defaultValue: `dict/${dictionaryId}/login`, stepsMappings: [mapping] },
  ];
};

const applicationOf = async ({ file }: Recording, name: string, parameters: object[] = []): Promise<number> => {
  const { data: pcapFileId } = await system.client.files.create({
    upload: { fields: { category: 'pcap' }, file: new Blob([readFileSync(file)]), filename: `${name}.pcap` },
  } as never);
  const { data } = await system.client.applications.create({ body: { name, pcapFileId, parameters } as never });
  return data;
};

const entryOf = (params: object, values: object = {}) => ({
  plugin: { id: 10 },
  values: {
    sources: [{ agent: { id: alice.id } }],
    targets: [{ agent: { id: bob.id } }],
    duration: { mode: 'time', seconds: 20 },
    applicationParams: params,
    ...values,
  },
});

const played = (applicationId: number, more: object = {}) => ({
  ...{ applicationId, users: 2, iterations: 5, speed: { mode: 'max' } },
  ...more,
});

/** Sums over all entries and seconds, by target on request. */
const sumsOf = async (id: number, runId: number, metric: string): Promise<Record<string, number>> => {
  const query = { metrics: metric, agg: 'sum', by: 'target' } as const;
  const { data } = await system.client.tasks.series({ params: { id, runId }, query });
  return Object.fromEntries(
    data.series.flatMap(({ labels, values }) => {
      const sum = values.reduce<number>((all, value) => all + (value ?? 0), 0);
      return sum === 0 ? [] : [[Object.values(labels).find((label) => label.includes(':')) ?? 'all', sum]];
    }),
  );
};

const entriesThrough = (match: string, serverPort: number, proxies: readonly { port: number }[]) => {
  const params = { applications: [played(shopId)], match, portMode: 'mapped' };
  return [
    entryOf(params, { isServer: true, sources: [], targets: [{ agent: { id: bob.id }, ports: String(serverPort) }] }),
    ...proxies.map(({ port }) => entryOf(params, { targets: [{ ip: '127.0.0.1', ports: String(port) }] })),
  ];
};

describe('a task that plays applications', () => {
  it('runs between two agents with values of a dictionary, over TCP and UDP', async () => {
    const params = { applications: [played(shopId), played(namesId)] };
    const { id, result } = await runToEnd(system.client, { comment: 'play', configuration: [entryOf(params)] });
    expect(result).toMatchObject({ status: 7 });
    const target = `127.0.0.1:${Math.min(shop.port, names.port)}`;
    for (const metric of ['application.ko', 'application.mismatches']) {
      expect(await sumsOf(id, result.id, metric)).toEqual({});
    }
    expect(await sumsOf(id, result.id, 'application.ok')).toEqual({ [target]: 30 });
    expect(await sumsOf(id, result.id, 'application.exchanges')).toEqual({ [target]: 40 });
  });

  it('passes HAProxy and nginx, and reports the offset of what a device changes', async () => {
    const [exact, http] = [await freePort(), await freePort()];
    const devices = [
      await startHaproxy('tcp', exact),
      await startMeddler(exact, (text) => text.replace('front page', 'Front page')),
      await startHaproxy('http', http),
      await startReverseProxy(http),
    ];
    const configuration = [
      ...entriesThrough('exact', exact, devices.slice(0, 2)),
      ...entriesThrough('http', http, devices.slice(2)),
    ];
    const { id, result } = await runToEnd(system.client, { comment: 'through proxies', configuration });
    await Promise.all(devices.map((device) => device.stop()));
    expect(result).toMatchObject({ status: 7 });
    const [plain, meddling, web, reverse] = devices.map(({ port }) => `127.0.0.1:${port}`) as [
      string,
      string,
      string,
      string,
    ];
    const ok = await sumsOf(id, result.id, 'application.ok');
    expect(ok).toEqual({ [plain]: 20, [meddling]: 10, [web]: 20, [reverse]: 20 });
    expect(await sumsOf(id, result.id, 'application.ko')).toEqual({ [meddling]: 10 });
    expect(await sumsOf(id, result.id, 'application.mismatches')).toEqual({ all: 10 });
    const [, answer = ''] = await stepsOf(shop.file, 0);
    const { data: agents } = await system.client.tasks.runAgents({ params: { id, runId: result.id }, query: {} });
    const note = `differs at byte ${answer.indexOf('front page')}: 0x46 instead of 0x66`;
    expect((agents as RunAgent[]).flatMap(({ notes }) => notes).join()).toContain(note);
  });

  it('is refused when values are missing', async () => {
    const params = { applications: [played(shopId, { parameters: [{ name: 'login' }] })] };
    const { data: id } = await system.client.tasks.create({
      body: { comment: 'no value', configuration: [entryOf(params)] } as never,
    });
    await expect(system.client.tasks.start({ params: { id } })).rejects.toThrow(/neither a value nor a dictionary/);
  });
});
