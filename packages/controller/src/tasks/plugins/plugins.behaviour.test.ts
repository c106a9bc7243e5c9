import { plugins as catalogue } from '@rushhour/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { refused } from '../../testing/refused.ts';
import { useTestController } from '../../testing/use-controller.ts';
import { removeAgent, storeAgent } from '../testing/stored-agent.ts';

const controller = await useTestController();
const administrator = await controller.signIn();

const list = async (query: object = {}) => (await administrator.client.tasks.plugins({ query })).data;
const one = async (id: number, query: object = {}) =>
  (await administrator.client.tasks.plugin({ params: { id }, query })).data;

describe('the catalogue', () => {
  it('holds every plugin, or those of a kind', async () => {
    expect((await list()).map(({ id }) => id)).toEqual(catalogue.map(({ id }) => id));
    expect((await list({ kind: 'control-plane' })).map(({ name }) => name)).toEqual(['plane.control']);
    expect((await list({ kind: 'security' })).map(({ id }) => id)).toEqual([15, 16, 17, 18, 19]);
  });

  it('says what enrolled agents can run, and why not', async () => {
    const availabilityOf = async (query: object = {}) =>
      Object.fromEntries((await list(query)).map(({ name, available, reason }) => [name, available || reason]));
    expect(await availabilityOf()).toMatchObject({ http: 'no agent is enrolled', suite: true });
    const first = await storeAgent(controller.store, { engines: ['http'], lacks: { icmp: 'needs raw sockets' } });
    const second = await storeAgent(controller.store, { engines: ['udp'] });
    expect(await availabilityOf()).toMatchObject({
      ...{ http: true, udp: true, icmp: 'needs raw sockets', tcp: 'no agent has the engine tcp' },
    });
    expect(await availabilityOf({ agentID: second })).toMatchObject({
      http: 'no agent has the engine http',
      udp: true,
    });
    await removeAgent(controller.store, first);
    expect(await availabilityOf()).toMatchObject({ http: 'no agent has the engine http' });
    await expect(list({ agentID: first })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('describes a plugin so that a stranger can write a task with it', async () => {
    const http = await one(1);
    expect(http).toMatchObject({
      ...{ name: 'http', kind: 'traffic', hazard: 0, canPause: true, engines: ['http'] },
      defaults: { httpParams: { method: 'GET', path: '/', connections: 50 }, duration: { mode: 'time', seconds: 10 } },
      subplugins: { allowed: false },
      uiSchema: { sources: { items: { interfaceId: { 'ui:options': { kind: 'interface' } } } } },
    });
    expect(http.members).toContain('requestsPerSecond');
    expect(http.metrics.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['http.latency', 'http.status.*', 'txBps', 'agent.cpuPct']),
    );
    expect((await one(12)).uiSchema).toMatchObject({ ipsecPsk: { 'ui:widget': 'password' } });
    await expect(one(99)).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('publishes schemas that validators take, and examples that fit them', async () => {
    for (const { id } of catalogue) {
      const { schema, examples } = await one(id);
      const validate = new Ajv2020({ strict: false }).compile(schema);
      for (const example of examples) expect([id, validate(example), validate.errors]).toEqual([id, true, null]);
    }
  });
});
