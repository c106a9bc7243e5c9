import { defaultSettings } from '@rushhour/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { loadPlanInput, type PlanServices } from './load-plan-input.ts';

let controller: TestController;
let admin: SignedIn;
beforeAll(async () => {
  controller = await startTestController();
  admin = await controller.signIn();
});
afterAll(() => controller?.close());

const none = async () => new Map();

it('loads MAC policies with their overrides and records, and tunnels with their secrets', async () => {
  const { macs, networks, tunnels } = admin.client;
  const mac = async (address: string) =>
    (await macs.create({ body: { name: address, kind: 'range', address, count: 1000 } })).data;
  const [pool, gatewayMacId] = [await mac('02:00:00:00:10:00'), await mac('02:00:00:00:20:00')];
  const policy = {
    macPolicy: { mode: 'pool' as const, macIds: [pool] },
    macOverrides: [{ ip: '10.44.0.7', mac: '02:00:00:00:00:07' }],
  };
  const network = { name: 'n', subnet: '10.44.0.0/24', gateway: '10.44.0.1', gatewayMacMode: 'mac' as const };
  const { data: networkId } = await networks.create({ body: { ...network, gatewayMacId, ...policy } });
  const params = { sessionId: 1, cookieBytes: 4, cookie: '01020304' };
  const ends = { clientIp: '10.45.0.1', serverIp: '10.45.0.2' };
  const { data: tunnelID } = await tunnels.create({ body: { name: 't', type: 'l2tpv3', ...ends, params } });

  const services: Omit<PlanServices, 'secrets'> = {
    ...{ samples: none, recordings: none, captures: none, baselines: none, dictionaries: none, tables: none },
    campaignFiles: none,
    settings: { current: () => defaultSettings },
  };
  const values = { sources: [{ agent: { id: 1 }, network: { id: networkId } }], tunnelID };
  const { store } = controller;
  const found = await loadPlanInput(
    store.read,
    { ...services, secrets: store.secrets },
    {
      ...{ configuration: [{ plugin: { id: 1 }, values }], accessPlane: [], controlPlane: [], dumps: {}, taskId: 0 },
    },
  );
  expect(found.networks.get(networkId)).toMatchObject({ ...network, gatewayMacId, ...policy, l2PolicyVersion: 1 });
  expect([...found.macs.keys()].sort()).toEqual([pool, gatewayMacId].sort());
  expect(found.macs.get(pool)).toEqual({ id: pool, kind: 'range', address: '02:00:00:00:10:00', count: 1000 });
  expect(found.tunnels.get(tunnelID)).toMatchObject({ type: 'l2tpv3', ...ends, params });
});
