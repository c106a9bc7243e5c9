import type { ConfigurationEntry, TaskDraft } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applications } from '../../store/assets/applications.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { removeAgent, storeAgent } from '../testing/stored-agent.ts';
import { checkTask } from './check-task.ts';

let controller: TestController;
let administrator: SignedIn;
let agent: number;
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  agent = await storeAgent(controller.store, { interfaces: [11, 12] });
});
afterAll(() => controller.close());

const origin = { userId: 1, address: '127.0.0.1', requestId: 'test', operation: 'test' };
const entry = (id: number, values: object): ConfigurationEntry => ({
  plugin: { id },
  values: { sources: [{ agent: { id: agent } }], targets: [{ agent: { id: agent } }], ...values },
});
const http = (values: object = {}) => entry(1, { requestsPerSecond: 1, ...values });

/** What is wrong, without what all paths begin with. */
const wrong = async (...configuration: ConfigurationEntry[]) => codes({ configuration });
const codes = async (draft: Partial<TaskDraft>) => {
  const issues = await checkTask(controller.store.read, { configuration: [http()], ...draft });
  return issues.map(({ path, code }) => `${path.replace('/configuration/0/values/', '')} ${code}`);
};

describe('agents', () => {
  it('must be enrolled and not blocked', async () => {
    const blocked = await storeAgent(controller.store, { isBlocked: true });
    const gone = await storeAgent(controller.store);
    await removeAgent(controller.store, gone);
    const sources = [agent, blocked, gone, 9999].map((id) => ({ agent: { id } }));
    expect(await wrong(http({ sources }))).toEqual([
      'sources/1/agent/id AGENT_BLOCKED',
      'sources/2/agent/id AGENT_UNKNOWN',
      'sources/3/agent/id AGENT_UNKNOWN',
    ]);
  });

  it('have the interfaces that are named', async () => {
    const targets = [
      { agent: { id: agent }, interfaceId: 12 },
      { agent: { id: agent }, interfaceId: 13, ports: '81' },
      { ip: '10.0.0.1', interfaceId: 11 },
    ];
    expect(await wrong(http({ targets }))).toEqual([
      'targets/1/interfaceId INTERFACE_UNKNOWN',
      'targets/2/interfaceId INTERFACE_WITHOUT_AGENT',
    ]);
    expect(
      await codes({
        accessPlane: [{ agent: { id: agent }, interfaces: [11, 14] }],
        controlPlane: [{ agent: { id: agent }, interfaces: [[11], [12, 15]] }],
      }),
    ).toEqual(['/accessPlane/0/interfaces/1 INTERFACE_UNKNOWN', '/controlPlane/0/interfaces/1/1 INTERFACE_UNKNOWN']);
  });

  it('do not matter where they are not known yet', async () => {
    const draft = {
      configuration: [http({ sources: [{ agent: { id: 9999 }, interfaceId: 1, network: { id: 9998 } }] })],
    };
    expect(await checkTask(controller.store.read, draft, { withoutAgents: true })).toMatchObject([
      { path: '/configuration/0/values/sources/0/network/id', code: 'NETWORK_UNKNOWN' },
    ]);
  });
});

describe('records', () => {
  it('of every kind must be there', async () => {
    const values = {
      sources: [{ agent: { id: agent }, network: { id: 9999 } }],
      tunnelID: 9999,
      tunnelIDs: [9998],
      httpParams: { body: { type: 'dictionary', dictionaryId: 9999 } },
      tlsParams: { certificateID: 9999 },
    };
    expect((await wrong(http(values))).sort()).toEqual([
      'httpParams/body/dictionaryId DICTIONARY_UNKNOWN',
      'sources/0/network/id NETWORK_UNKNOWN',
      'tlsParams/certificateID CERTIFICATE_UNKNOWN',
      'tunnelID TUNNEL_UNKNOWN',
      'tunnelIDs/0 TUNNEL_UNKNOWN',
    ]);
    expect(await wrong(entry(8, { pcapReplayParams: { fileId: 9999 } }))).toEqual([
      'pcapReplayParams/fileId FILE_UNKNOWN',
    ]);
    expect(await wrong(entry(10, { applicationParams: { applications: [{ applicationId: 9999 }] } }))).toEqual([
      'applicationParams/applications/0/applicationId APPLICATION_UNKNOWN',
    ]);
    expect(await wrong(entry(16, { cveReplayParams: { retest: { fromTaskId: 9999 } } }))).toEqual([
      'cveReplayParams/retest/fromTaskId TASK_UNKNOWN',
    ]);
  });

  it('inside a suite are looked at like others', async () => {
    const children = [http({ tlsParams: { certificateID: 9999 } })];
    expect(await wrong({ plugin: { id: 21 }, subplugins: { subplugins: children } })).toEqual([
      '/configuration/0/subplugins/subplugins/0/values/tlsParams/certificateID CERTIFICATE_UNKNOWN',
    ]);
  });
});

it('networks are used on the side they are for', async () => {
  const { networks } = administrator.client;
  const network = async (type: number) =>
    (await networks.create({ body: { name: `of type ${type}`, ipVersion: '4', subnet: `10.${type}.0.0/24`, type } }))
      .data;
  const [client, server, both] = [await network(1), await network(2), await network(3)];
  const ends = (ids: number[]) =>
    ids.map((id, i) => ({ agent: { id: agent }, network: { id }, ports: String(80 + i) }));
  expect(await wrong(http({ sources: ends([client, server, both]), targets: ends([client, server, both]) }))).toEqual([
    'sources/1/network/id NETWORK_ROLE',
    'targets/0/network/id NETWORK_ROLE',
  ]);
});

it('certificates that are shown have their key', async () => {
  const { certificates } = administrator.client;
  const generate = { kind: 'self-signed', subject: 'CN=server.test', validDays: 10 } as const;
  const { data: keyed } = await certificates.create({ body: { name: 'keyed', generate } });
  const { public: text } = (await certificates.get({ params: { id: keyed }, query: {} })).data;
  const { data: bare } = await certificates.create({ body: { name: 'bare', public: text } });
  expect(await wrong(http({ tlsParams: { certificateID: keyed, caCertificateID: bare } }))).toEqual([]);
  expect(await wrong(http({ tlsParams: { certificateID: bare, clientCertificateID: bare } }))).toEqual([
    'tlsParams/certificateID CERTIFICATE_WITHOUT_KEY',
    'tlsParams/clientCertificateID CERTIFICATE_WITHOUT_KEY',
  ]);
});

it('files are ready and of a category that fits', async () => {
  const { files } = administrator.client;
  const content = Buffer.from('hello').toString('base64');
  const { data: ready } = await files.create({ body: { name: 'a.bin', category: 'payload', content } });
  const { data: open } = await files.create({ body: { name: 'b.bin', category: 'payload', size: 100 } });
  const body = (fileId: number) => http({ httpParams: { body: { type: 'file', fileId } } });
  expect(await wrong(body(ready))).toEqual([]);
  expect(await wrong(body(open))).toEqual(['httpParams/body/fileId FILE_NOT_READY']);
  const alerts = { enabled: true, fileID: open };
  expect(await wrong(entry(15, { wafModules: { modules: [{ name: 'ssi' }], detection: { alerts } } }))).toEqual([]);
  expect(await wrong(entry(8, { pcapReplayParams: { fileId: ready } }))).toEqual([
    'pcapReplayParams/fileId FILE_CATEGORY',
  ]);
  expect(await wrong(entry(17, { malwareFiles: [ready] }))).toEqual(['malwareFiles/0 FILE_CATEGORY']);
});

it('planes hold profiles of their protocols, and values come from other dictionaries', async () => {
  const { dictionaries } = administrator.client;
  const profile = async (name: 'dhcp' | 'bgp') =>
    (await dictionaries.create({ body: { name: `p ${name}`, type: `protocol.${name}`, config: {} } })).data;
  const [dhcp, bgp] = [await profile('dhcp'), await profile('bgp')];
  const { data: list } = await dictionaries.create({ body: { name: 'names', type: 'list', values: ['a.test'] } });
  const draft = {
    accessPlane: [{ agent: { id: agent }, dhcp: [dhcp, bgp] }],
    controlPlane: [{ agent: { id: agent }, bgp: [bgp, list, 9999] }],
  };
  expect(await codes(draft)).toEqual([
    '/accessPlane/0/dhcp/1 DICTIONARY_TYPE',
    '/controlPlane/0/bgp/1 DICTIONARY_TYPE',
    '/controlPlane/0/bgp/2 DICTIONARY_UNKNOWN',
  ]);
  const names = (dictionaryId: number) => entry(4, { requestsPerSecond: 1, dnsParams: { dictionaryId } });
  expect(await wrong(names(list))).toEqual([]);
  expect(await wrong(names(dhcp))).toEqual(['dnsParams/dictionaryId DICTIONARY_TYPE']);
});

it('applications decide what tasks may set', async () => {
  const application = (lockParameters: boolean, allowPerSessionSpeed: boolean) =>
    controller.store.change(origin, (tx) =>
      applications.insert(tx, {
        ...{ name: `app ${lockParameters}`, description: '', tags: '', mode: 'stateful', defaultSpeedMode: 'original' },
        ...{ clientIp: '', allowPerSessionSpeed, followTimestamps: true, lockParameters, loop: false, baseBps: 0 },
        ...{ basePps: 0, defaultTimeout: 1, defaultUsers: 1, timingGapThresholdMs: 1, pcapFileId: 1, pcapMd5: '' },
      }),
    );
  const played = (applicationId: number) =>
    entry(10, {
      applicationParams: {
        applications: [
          {
            applicationId,
            parameters: [{ name: 'user', value: 'x' }],
            sessions: [{ sessionIndex: 0, speed: { mode: 'max' } }],
          },
        ],
      },
    });
  expect(await wrong(played(await application(false, true)))).toEqual([]);
  expect(await wrong(played(await application(true, false)))).toEqual([
    'applicationParams/applications/0/parameters PARAMETERS_LOCKED',
    'applicationParams/applications/0/sessions/0/speed SPEED_FIXED',
  ]);
});
