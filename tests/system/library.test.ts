import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentProcess, runToEnd, type System, startSystem, until } from './system.ts';

let system: System;
let alice: AgentProcess;
let bob: AgentProcess;
let mixes: { id: number; name: string }[];

beforeAll(async () => {
  system = await startSystem({ tasks: { allowedTargets: ['127.0.0.0/8'] } }, { RUSHHOUR_LIBRARY: 'on' });
  [alice, bob] = [await system.addAgent('alice'), await system.addAgent('bob')];
  mixes = await until('the library', async () => {
    const { data } = await system.client.taskTemplates.list({ query: { search: 'Mix: ', count: 100 } });
    return data.length > 0 && data.filter(({ name }) => name.startsWith('Mix: '));
  });
});
afterAll(() => system?.close());

const library = async () => (await system.client.applications.all()).data.filter(({ source }) => source === 'builtin');

describe('the library of applications', () => {
  it('is stored at the first start, can be searched and cannot be changed', async () => {
    expect((await library()).length).toBeGreaterThanOrEqual(60);
    const { data: shares } = await system.client.applications.list({ query: { search: 'SMB2' } });
    expect(shares.map(({ name }) => name)).toEqual(['File share (SMB2)']);
    const { data: plant } = await system.client.applications.list({ query: { tag: 'ot', protocol: 'udp' } });
    expect(plant.map(({ name }) => name)).toContain('BACnet');
    const [first] = await library();
    const id = first?.id as number;
    await expect(system.client.applications.update({ body: { id, name: 'Mine' } })).rejects.toMatchObject({
      status: 403,
      data: { code: 'BUILT_IN' },
    });
    await expect(system.client.applications.removeMany({ body: { array: [id] } } as never)).rejects.toMatchObject({
      status: 403,
    });
    const copy = await system.client.applications.create({ body: { name: 'My page', cloneFromId: id } });
    expect((await system.client.applications.get({ params: { id: copy.data } })).data.source).toBe('user');
  });

  it('is played by two agents, every message as it was recorded', async () => {
    const all = await library();
    const entryOf = (part: typeof all, ports: string) => ({
      plugin: { id: 10 },
      values: {
        sources: [{ agent: { id: alice.id } }],
        targets: [{ agent: { id: bob.id }, ports }],
        duration: { mode: 'time', seconds: 60 },
        applicationParams: {
          applications: part.map(({ id }) => ({ applicationId: id, users: 1, iterations: 1, speed: { mode: 'max' } })),
          portMode: 'mapped',
        },
      },
    });
    const half = Math.ceil(all.length / 2);
    const configuration = [entryOf(all.slice(0, half), '31000-31099'), entryOf(all.slice(half), '31100-31199')];
    const { id, result } = await runToEnd(system.client, { comment: 'library', configuration });
    expect(result).toMatchObject({ status: 7 });
    const sumOf = async (metric: string) => {
      const query = { metrics: metric, agg: 'sum' } as const;
      const { data } = await system.client.tasks.series({ params: { id, runId: result.id }, query });
      return data.series.flatMap(({ values }) => values).reduce<number>((sum, value) => sum + (value ?? 0), 0);
    };
    expect(await sumOf('application.mismatches')).toBe(0);
    expect(await sumOf('application.ko')).toBe(0);
    expect(await sumOf('application.ok')).toBe(all.reduce((sum, { sessionCount }) => sum + sessionCount, 0));
  });

  it('has six mixes, each a task that is valid', async () => {
    expect(mixes).toHaveLength(6);
    for (const { id: templateID, name } of mixes) {
      const agentMap = { client: alice.id, server: bob.id };
      const { data: id } = await system.client.tasks.fromTemplate({
        body: { templateID, agentMap, comment: name } as never,
      });
      const { data } = await system.client.tasks.validate({ body: { id } as never });
      expect(data).toMatchObject({ valid: true });
    }
  });
});
