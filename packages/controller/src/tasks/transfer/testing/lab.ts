import type { TaskDraft } from '@rushhour/contract';
import { mappingOf } from '../../../assets/applications/testing/shop.ts';
import { shopCapture } from '../../../assets/applications/testing/shop-capture.ts';
import { setLinks } from '../../../store/engine/links.ts';
import { type SignedIn, startTestController, type TestController } from '../../../testing/controller.ts';
import { storeAgent } from '../../testing/stored-agent.ts';

export const psk = 'a pre-shared key of the task';
export const tunnelKey = 'a pre-shared key of the tunnel';
export const passphrase = 'correct horse battery staple';
export const letter = Buffer.from('Dear Madam, '.repeat(500));

type Client = SignedIn['client'];

/** A controller with an administrator, and ways to export from it and import into it. */
export const startLab = async (overrides: Parameters<typeof startTestController>[0] = {}) => {
  const controller = await startTestController(overrides);
  return { controller, ...(await labOf(controller)) };
};
export type Lab = Awaited<ReturnType<typeof startLab>>;

const labOf = async (controller: TestController) => {
  const administrator = await controller.signIn();
  const { client } = administrator;
  const exported = async (id: number, query = {}, headers = {}) => {
    const response = await client.tasks.export({ params: { id }, query }, { headers });
    return Buffer.from(await response.arrayBuffer()) as Buffer<ArrayBuffer>;
  };
  const plan = async (bytes: Buffer<ArrayBuffer>, headers = {}) => {
    const upload = { fields: {}, file: new Blob([bytes]), filename: 'task.zip' };
    return (await client.tasks.importPlan({ upload }, { headers })).data;
  };
  const planOf = (id: number) => client.tasks.exportPlan({ params: { id } });
  const kinds = ['applications', 'certificates', 'dictionaries', 'files', 'macs', 'networks', 'tunnels'] as const;
  /** How many records there are of every kind. */
  const counts = async () => {
    const found = await Promise.all(kinds.map(async (kind) => [kind, (await client[kind].all()).cursor.totalRows]));
    return { ...Object.fromEntries(found), tasks: (await client.tasks.list()).cursor.totalRows };
  };
  const agent = (name: string, more = {}) => storeAgent(controller.store, { name, ...more });
  return { administrator, client, exported, plan, planOf, counts, agent };
};

const upload = async (client: Client, name: string, bytes: Buffer<ArrayBuffer>, category: 'pcap' | 'payload' | 'csv') =>
  (await client.files.create({ upload: { fields: { category }, file: new Blob([bytes]), filename: name } })).data;

const storeNetworking = async (client: Client) => {
  const macOf = async (name: string, address: string) => (await client.macs.create({ body: { name, address } })).data;
  const gatewayMacId = await macOf('Router', '02:00:00:00:00:01');
  const poolMac = await macOf('Pool', '02:00:00:00:01:01');
  const odd = await macOf('Odd one', '02:00:00:00:02:01');
  const { data: network } = await client.networks.create({
    body: {
      ...{ name: 'Clients', subnet: '10.8.0.0/28', gateway: '10.8.0.1', gatewayMacId, ports: '1024-2000', type: 1 },
      ...{ macPolicy: { mode: 'shared', macId: poolMac }, macOverrides: [{ ip: '10.8.0.9', macId: odd }] },
      excludes: ['10.8.0.5'],
    },
  });
  return { macs: [gatewayMacId, poolMac, odd], network };
};

const storeCertificates = async (client: Client) => {
  const make = async (name: string, generate: object) =>
    (await client.certificates.create({ body: { name, generate: { keyType: 'ecdsa-p256', ...generate } as never } }))
      .data;
  const authority = await make('Lab CA', { kind: 'ca', subject: 'CN=Lab CA' });
  const leaf = await make('Web', { kind: 'leaf', subject: 'CN=web.test', issuerCertificateID: authority });
  return { authority, leaf };
};

const storeContents = async (client: Client, leaf: number) => {
  const payload = await upload(client, 'letter.txt', letter as Buffer<ArrayBuffer>, 'payload');
  const capture = await upload(client, 'shop.pcap', shopCapture(), 'pcap');
  const names = await upload(client, 'names.csv', Buffer.from('name,city\nanna,Riga\nbert,Oslo\n') as never, 'csv');
  const make = async (body: object) => (await client.dictionaries.create({ body: body as never })).data;
  const carts = await make({ name: 'Carts', type: 'list', values: ['cart-a', 'cart-b'], description: 'of the shop' });
  const people = await make({ name: 'People', fileID: names });
  const table = await make({
    name: 'Table',
    type: 'table',
    columns: ['a', 'b'],
    rows: [
      ['1', 'ü'],
      ['2', '"'],
    ],
  });
  const config = { supplicant: { method: 'tls', certificateID: leaf } };
  const dot1x = await make({ name: 'Port login', type: 'protocol.dot1x', config });
  const cart = { name: 'cart', source: 'dictionary' as const, defaultValue: `dict/${carts}/value` };
  const { data: application } = await client.applications.create({
    body: {
      ...{ name: 'Shop', pcapFileId: capture, tags: 'web', loop: true, sessions: [{ sessionIndex: 0, name: 'buy' }] },
      parameters: [{ ...cart, stepsMappings: [mappingOf(3, 'cart')] }],
    },
  });
  return { files: { payload, capture, names }, dictionaries: { carts, people, table, dot1x }, application };
};

/** A task that needs one record of every kind, most of them through others. */
export const storeRichTask = async ({ client, agent }: Lab) => {
  const near = await agent('near', { interfaces: [5, 6] });
  const far = await agent('far', { interfaces: [7] });
  const networking = await storeNetworking(client);
  const certificates = await storeCertificates(client);
  const contents = await storeContents(client, certificates.leaf);
  const { data: tunnel } = await client.tunnels.create({
    body: {
      ...{ name: 'To the lab', type: 'ipsec', clientIp: '192.0.2.1', serverIp: '192.0.2.2', mtu: 1400 },
      ...{ params: { authMethod: 'psk', psk: tunnelKey }, certificateID: certificates.leaf },
    },
  });
  const ids = { near, far, ...networking, ...certificates, ...contents, tunnel };
  const { data: id } = await client.tasks.create({ body: definitionOf(ids) });
  await client.tasks.setThresholds({
    body: {
      id,
      thresholds: [
        {
          name: 'fast',
          metric: 'http.latency',
          aggregation: 'p99',
          operator: '<',
          value: 5000,
          scope: { agentID: near },
        },
      ],
    },
  });
  return { id, ...ids };
};
export type RichTask = Awaited<ReturnType<typeof storeRichTask>>;

const definitionOf = (ids: Omit<RichTask, 'id'>): TaskDraft => {
  const { near, far, network, leaf, authority, files, dictionaries, application, tunnel } = ids;
  const sources = [{ agent: { id: near } }];
  const targets = [{ agent: { id: far } }];
  const http = {
    ...{ targets, requestsPerSecond: 10, tunnelID: tunnel },
    sources: [{ agent: { id: near }, interfaceId: 6, network: { id: network } }],
    tlsParams: { certificateID: leaf, caCertificateID: authority, verify: true },
    httpParams: { method: 'POST', body: { type: 'file', fileId: files.payload } },
  };
  const parameters = [{ name: 'cart', dictionaryId: dictionaries.table, column: 'a' }];
  const applicationParams = { applications: [{ applicationId: application, parameters }] };
  const tcp = { payload: { type: 'dictionary', dictionaryId: dictionaries.people }, sessionsPerSecond: 5 };
  return {
    comment: 'Everything',
    configuration: [
      { plugin: { id: 1 }, values: http },
      { plugin: { id: 10 }, values: { sources, targets, applicationParams } },
      { plugin: { id: 2 }, values: { sources, targets, ...tcp } },
      { plugin: { id: 12 }, values: { sources, targets, ipsecPsk: psk, ipsecCa: String(authority) } },
    ],
    accessPlane: [{ agent: { id: near }, interfaces: [5], dot1x: [dictionaries.dot1x] }],
    dumps: { enabled: true, savelen: 96 },
  };
};

const origin = { userId: 1, address: '127.0.0.1', requestId: 'test', operation: 'test' };

/** Lets a record go of what it uses, so that it can be deleted under it. */
export const unlink = ({ controller }: Lab, kind: 'task' | 'network' | 'application', id: number) =>
  controller.store.change(origin, (tx) => setLinks(tx, { kind, id, name: '' }, []));
