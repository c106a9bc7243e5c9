import { api, plugins, type Route, secretValues } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agents } from '../../store/agents/agents.ts';
import { applications } from '../../store/assets/applications.ts';
import { certificateContents, certificates } from '../../store/assets/certificates.ts';
import { dictionaries } from '../../store/assets/dictionaries.ts';
import { files } from '../../store/assets/files.ts';
import { macs } from '../../store/assets/macs.ts';
import { networkPolicies, networks } from '../../store/assets/networks.ts';
import { tunnels } from '../../store/assets/tunnels.ts';
import { createTable } from '../../store/engine/table.ts';
import { tables } from '../../store/tables/index.ts';
import { tasks } from '../../store/tasks/tasks.ts';
import { type Lab, type RichTask, startLab, storeRichTask } from '../../tasks/transfer/testing/lab.ts';
import { callerWith, type GatewayCall } from '../gateway/testing/gateway-lab.ts';
import { newTestKey } from '../gateway/testing/key.ts';

type Holder = Record<string, unknown>;
type Kind = 'networks' | 'macs' | 'tunnels' | 'certificates' | 'dictionaries' | 'files' | 'applications';

let lab: Lab;
let call: GatewayCall;
let rich: RichTask;
beforeAll(async () => {
  lab = await startLab();
  rich = await storeRichTask(lab);
  const limits = {
    ...{ requestsPerMin: 100_000, writesPerMin: 100_000, approvalsPerHour: 100_000, pendingApprovals: 1000 },
  };
  const { secret } = await newTestKey(lab.controller, lab.administrator, {
    scopes: ['tasks:delete', 'tasks:read'],
    limits,
  });
  call = callerWith(lab.controller.url, secret);
});
afterAll(() => lab.controller.close());

/** Asks for the deletion of the task and has a person approve it: from here on only a change can stop it. */
const approved = async (): Promise<string> => {
  const { data } = await call('POST', '/tasks/actions', {
    ...{ action: 'delete', taskIds: [rich.id], reason: 'looks for changes' },
  });
  const { id, digest } = data.approval;
  await lab.client.aiAdmin.decide({ body: { array: [id], decision: 'approve', digests: { [id]: digest } } });
  return data.approvalToken;
};
const confirm = (approvalToken: string) => call('POST', '/tasks/actions/confirm', { approvalToken });

const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };
interface Table {
  find(executor: never, id: number): Promise<unknown>;
  update(tx: never, id: number, patch: never): Promise<unknown>;
}
const put = (table: Table, id: number, patch: Holder) =>
  lab.controller.store.change(origin, async (tx) => void (await table.update(tx as never, id, patch as never)));
const rowOf = async (table: Table, id: number) =>
  (await table.find(lab.controller.store.read as never, id)) as unknown as Holder;

const repositories = {
  ...{ networks, networkPolicies, macs, tunnels, certificates, certificateContents, dictionaries, files, applications },
} satisfies Record<string, Table>;
const tablesOf: Record<Kind, readonly (keyof typeof repositories)[]> = {
  networks: ['networks', 'networkPolicies'],
  macs: ['macs'],
  tunnels: ['tunnels'],
  certificates: ['certificates', 'certificateContents'],
  dictionaries: ['dictionaries'],
  files: ['files'],
  applications: ['applications'],
};
const idsOf = (kind: Kind): number[] =>
  ({
    networks: [rich.network],
    macs: rich.macs,
    tunnels: [rich.tunnel],
    certificates: [rich.leaf, rich.authority],
    dictionaries: Object.values(rich.dictionaries),
    files: Object.values(rich.files),
    applications: [rich.application],
  })[kind];

/** What people can write, from the contract. */
const writable = (kind: Kind) => {
  const { create, update } = api[kind].routes as unknown as Record<string, Route>;
  const members = [create, update].flatMap((route) =>
    Object.entries(((route?.body as Holder | undefined)?.['properties'] ?? {}) as Record<string, Holder>),
  );
  return new Map(
    members.filter(([name, schema]) => schema['readOnly'] !== true && !['id', 'updatedAt'].includes(name)),
  );
};

/** What a record is called and where it came from does not change what a task does with it. */
const cosmetic = new Set(['name', 'description', 'tags', 'vendor', 'source', 'first_seen_at']);

function* pointersOf(value: unknown, pointer = ''): Generator<string> {
  const isHolder = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isHolder) yield pointer;
  else for (const [name, member] of Object.entries(value)) yield* pointersOf(member, `${pointer}/${name}`);
}

const enumOf = (schema: Holder | undefined): unknown[] =>
  (schema?.['enum'] as unknown[] | undefined) ?? ((schema?.['anyOf'] as Holder[] | undefined) ?? []).flatMap(enumOf);

/** Another value of the same type. */
const otherThan = (value: unknown, schema: Holder | undefined): unknown => {
  const choices = enumOf(schema);
  if (choices.length > 0) return choices.find((choice) => choice !== value);
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return ['x'];
  if (typeof value === 'object' && value !== null) return { x: { y: 1 } };
  return value === null ? 1 : `${String(value)}x`;
};

const mutated = (root: Holder, pointer: string, schema: Holder | undefined): Holder => {
  const copy = structuredClone(root);
  const names = pointer.split('/').slice(1);
  const last = names.pop() as string;
  const holder = names.reduce<unknown>((part, name) => (part as Holder)[name], copy) as Holder;
  holder[last] = otherThan(holder[last], names.length === 0 ? schema : undefined);
  return copy;
};

interface StoredValue {
  readonly table: Table;
  readonly id: number;
  readonly member: string;
  readonly pointer: string;
}
/** The digest is the same code on both databases: what is thorough on one is a sample on the other. */
const sampled = <T>(all: readonly T[]): readonly T[] =>
  process.env['RUSHHOUR_TEST_ENGINE'] === 'postgres' ? all.filter((_, i) => i % 6 === 0) : all;

/** Sealed texts and their masks change only together, and a file's size only with its content: see below. */
const apart = new Set(['/private', '/params/psk', '/size']);

/** Every stored value of the records of a kind that people can write. */
const valuesIn = async (kind: Kind, isWanted: (member: string) => boolean): Promise<StoredValue[]> => {
  const names = writable(kind);
  const found: StoredValue[] = [];
  for (const id of idsOf(kind)) {
    for (const tableName of tablesOf[kind]) {
      const table: Table = repositories[tableName];
      const row = await rowOf(table, id);
      const isMeant = (name: string) => names.has(name) && isWanted(name) && Object.hasOwn(tables[tableName], name);
      for (const [member, value] of Object.entries(row).filter(([name]) => isMeant(name))) {
        for (const pointer of pointersOf(value, `/${member}`)) {
          if (!apart.has(pointer)) found.push({ table, id, member, pointer });
        }
      }
    }
  }
  return found;
};

const taskMembers = ['configuration', 'accessPlane', 'controlPlane', 'dumps', 'thresholds'];
const pick = (row: Holder, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, row[name]]));

const expectFound = async (
  act: () => Promise<unknown>,
  expected: Pick<RegExp, 'test'>,
  undo: () => Promise<unknown>,
  label: string,
) => {
  const token = await approved();
  await act();
  const { status, data } = await confirm(token);
  expect([label, status, data.code]).toEqual([label, 409, 'TASK_CHANGED']);
  expect([label, data.changed.some((pointer: string) => expected.test(pointer))]).toEqual([label, true]);
  await undo();
};

describe('between approval and confirmation', () => {
  it.each(Object.keys(tablesOf) as Kind[])(
    'every changed value of %s is found',
    async (kind) => {
      const values = await valuesIn(kind, (member) => !cosmetic.has(member));
      expect(values.length).toBeGreaterThan(0);
      for (const { table, id, member, pointer } of sampled(values)) {
        const before = await rowOf(table, id);
        const after = mutated(before, pointer, writable(kind).get(member));
        const write = (row: Holder) => () => put(table, id, { [member]: row[member] });
        await expectFound(write(after), new RegExp(`^/deps/${kind}/${id}$`), write(before), `${kind} ${id} ${pointer}`);
      }
    },
    120_000,
  );

  it('every changed value of the task is found, whatever plugin it is for', async () => {
    const { configuration, ...planes } = await rowOf(tasks, rich.id);
    const examples = plugins.flatMap(({ id, examples: [values] }) => (values ? [{ plugin: { id }, values }] : []));
    const definition: Holder = { ...planes, configuration: [...(configuration as Holder[]), ...examples] };
    const own = { ...pick(definition, taskMembers), controlPlane: [{ agent: { id: rich.near }, interfaces: [5] }] };
    await put(tasks, rich.id, own);
    const masked = secretValues.map((name) => new RegExp(`/values/${name}$`));
    const pointers = [...pointersOf(own)].filter((pointer) => !masked.some((mask) => mask.test(pointer)));
    // Members that many plugins share are changed in one of them.
    const byMember = new Map(pointers.map((pointer) => [pointer.replace(/\/\d+/g, '/*'), pointer]));
    expect(byMember.size).toBeGreaterThan(80);
    for (const pointer of sampled([...byMember.values()])) {
      const [, member = ''] = pointer.split('/');
      const write = (row: Holder) => () => put(tasks, rich.id, { [member]: row[member] });
      const expected = { test: (found: string) => found === pointer || found.startsWith(`${pointer}/`) };
      await expectFound(write(mutated(own, pointer, undefined)), expected, write(own), pointer);
    }
    await put(tasks, rich.id, pick({ ...planes, configuration }, taskMembers));
  });

  it('members of records that lie elsewhere are all known', async () => {
    const reached = async (kind: Kind) => new Set((await valuesIn(kind, () => true)).map(({ member }) => member));
    const elsewhere: Partial<Record<Kind, string[]>> = {};
    for (const kind of Object.keys(tablesOf) as Kind[]) {
      const have = await reached(kind);
      const missing = [...writable(kind).keys()].filter((name) => !have.has(name)).sort();
      if (missing.length > 0) elsewhere[kind] = missing;
    }
    expect(elsewhere).toEqual({
      // Ways to make a record; none of them is kept. What they leave behind is tested below.
      applications: ['cloneFromId', 'parameters', 'sessions'],
      certificates: ['generate', 'passphrase', 'pkcs12', 'private'],
      dictionaries: [
        ...['delimiter', 'encoding', 'fileID', 'header', 'quote', 'rows', 'rowsPartial', 'skipEmpty', 'values'],
      ],
      files: ['content', 'expectSha256', 'onDuplicate', 'size', 'tagsFromName', 'unpack'],
    });
  });

  it('parameters and sessions of applications are found, value by value', async () => {
    const { sessions, parameters } = (await lab.client.applications.get({ params: { id: rich.application } })).data;
    const contents = [
      { table: createTable('applicationParameters') as Table, rows: parameters, readOnly: [] as string[] },
      {
        table: createTable('applicationSessions') as Table,
        rows: sessions,
        readOnly: ['srcIp', 'dstIp', 'srcPort', 'dstPort', 'bytesC2S', 'bytesS2C', 'exchangeCount', 'protocol'],
      },
    ];
    for (const { table, rows, readOnly } of contents) {
      expect(rows.length).toBeGreaterThan(0);
      for (const { id = 0 } of rows as { id?: number }[]) {
        const { content } = (await rowOf(table, id)) as { content: Holder };
        for (const pointer of sampled([...pointersOf(content)])) {
          if (readOnly.some((name) => pointer.startsWith(`/${name}`))) continue;
          const write = (value: Holder) => () => put(table, id, { content: value });
          const expected = /^\/deps\/applications\//;
          await expectFound(
            write(mutated(content, pointer, undefined)),
            expected,
            write(content),
            `content ${pointer}`,
          );
        }
      }
    }
  });

  it.each<[string, () => Promise<[act: () => Promise<unknown>, undo: () => Promise<unknown>]>, RegExp]>([
    [
      'the private key of a certificate',
      async () => {
        const { store } = lab.controller;
        const { private: sealed } = await rowOf(certificateContents, rich.leaf);
        const expected = { table: 'certificates', id: rich.leaf, column: 'private' };
        const other = store.secrets.seal('-----BEGIN PRIVATE KEY-----\nother', expected);
        return [
          () => put(certificateContents, rich.leaf, { private: other }),
          () => put(certificateContents, rich.leaf, { private: sealed }),
        ];
      },
      /^\/deps\/certificates\//,
    ],
    [
      'the secret of a tunnel',
      async () => {
        const { params, secrets } = await rowOf(tunnels, rich.tunnel);
        const body = { id: rich.tunnel, params: { psk: 'another one' } };
        return [
          () => lab.client.tunnels.update({ body: body as never }),
          () => put(tunnels, rich.tunnel, { params, secrets }),
        ];
      },
      /^\/deps\/tunnels\//,
    ],
    [
      'a value of a dictionary',
      async () => {
        const id = rich.dictionaries.carts;
        const write = (values: string[]) => () => lab.client.dictionaries.update({ body: { id, values } as never });
        return [write(['cart-a', 'cart-c']), write(['cart-a', 'cart-b'])];
      },
      /^\/deps\/dictionaries\//,
    ],
    [
      'a cell of a table',
      async () => {
        const id = rich.dictionaries.table;
        const write = (cell: string) => () =>
          lab.client.dictionaries.update({ body: { id, columns: ['a', 'b'], rows: [['1', 'ü'], ['2', cell]] } as never }); // biome-ignore format: a table
        return [write('other'), write('"')];
      },
      /^\/deps\/dictionaries\//,
    ],
    [
      'the content of a file',
      async () => {
        const { sha256 } = await rowOf(files, rich.files.payload);
        return [
          () => put(files, rich.files.payload, { sha256: 'f'.repeat(64) }),
          () => put(files, rich.files.payload, { sha256 }),
        ];
      },
      /^\/deps\/files\//,
    ],
    [
      'the identity of an agent',
      async () => {
        const { publicKey } = await rowOf(agents, rich.far);
        return [() => put(agents, rich.far, { publicKey: 'other' }), () => put(agents, rich.far, { publicKey })];
      },
      /^\/agents\//,
    ],
    [
      'a secret of the task',
      async () => {
        const { data } = await lab.client.tasks.get({ params: { id: rich.id } });
        const write = (ipsecPsk: string) => () => {
          const configuration = structuredClone(data.configuration);
          Object.assign(configuration[3]?.values ?? {}, { ipsecPsk });
          return lab.client.tasks.update({ body: { id: rich.id, configuration } as never });
        };
        return [write('another key'), write('a pre-shared key of the task')];
      },
      /^\/configuration\/3\/values\/ipsecPsk$/,
    ],
  ])('%s is found', async (label, steps, expected) => {
    const [act, undo] = await steps();
    await expectFound(act, expected, undo, label);
  });

  it('what a signature sends is found, its name is not', async () => {
    const { cve, tasks: taskRoutes } = lab.client;
    const probe = { idx: 0, kind: 'http', method: 'GET', path: '/probe' };
    const { data: signatureId } = await cve.create({ body: { name: 'Probe', requests: [probe] } as never });
    const { configuration } = (await taskRoutes.get({ params: { id: rich.id } })).data;
    const ends = [{ agent: { id: rich.near } }];
    const values = { sources: ends, targets: ends, cveReplayParams: { signatureIds: [signatureId] } };
    const { id: plugin } = plugins.find(({ name }) => name === 'cve-replay') ?? { id: 0 };
    const added = { id: rich.id, configuration: [...configuration, { plugin: { id: plugin }, values }] };
    await taskRoutes.update({ body: added as never });
    const write = (body: object) => () => cve.update({ body: { id: signatureId, ...body } as never });
    const other = { requests: [{ ...probe, path: '/other' }] };
    const expected = /^\/deps\/cveSignatures\//;
    await expectFound(write(other), expected, write({ requests: [probe] }), 'requests');
    await expectFound(write({ enabled: false }), expected, write({ enabled: true, name: 'Other' }), 'enabled');
    const { digest } = (await call('GET', `/tasks/${rich.id}`)).data;
    await write({ name: 'Probe', description: 'said otherwise' })();
    expect((await call('GET', `/tasks/${rich.id}`)).data.digest).toBe(digest);
    await taskRoutes.update({ body: { id: rich.id, configuration } as never });
  });

  it('a signature that a filter finds anew is found', async () => {
    const { cve, tasks: taskRoutes } = lab.client;
    const draft = (path: string, tags: string) => ({
      body: { name: path, tags, requests: [{ idx: 0, kind: 'http', method: 'GET', path }] } as never,
    });
    await cve.create(draft('/first', 'wanted'));
    const { data: other } = await cve.create(draft('/second', 'spare'));
    const { configuration } = (await taskRoutes.get({ params: { id: rich.id } })).data;
    const ends = [{ agent: { id: rich.near } }];
    const values = { sources: ends, targets: ends, cveReplayParams: { filter: { tag: ['wanted'] } } };
    const { id: plugin } = plugins.find(({ name }) => name === 'cve-replay') ?? { id: 0 };
    const added = { id: rich.id, configuration: [...configuration, { plugin: { id: plugin }, values }] };
    await taskRoutes.update({ body: added as never });
    const tag = (tags: string) => () => cve.update({ body: { id: other, tags } as never });
    await expectFound(tag('wanted'), /^\/deps\/cveSignatures\//, tag('spare'), 'filter');
    await taskRoutes.update({ body: { id: rich.id, configuration } as never });
  });

  it('names, descriptions, comments, times and heartbeats do not matter', async () => {
    const token = await approved();
    const changed: string[] = [];
    for (const kind of Object.keys(tablesOf) as Kind[]) {
      for (const { table, id, member } of await valuesIn(kind, (name) => cosmetic.has(name))) {
        const { [member]: value } = await rowOf(table, id);
        await put(table, id, { [member]: otherThan(value, writable(kind).get(member)) });
        changed.push(`${kind}.${member}`);
      }
      for (const id of idsOf(kind)) await put(repositories[kind], id, {});
    }
    expect(new Set(changed).size).toBeGreaterThan(15);
    const health = { status: 2, bootId: 'b', clockOffsetMs: 3, roundTripMs: 4, version: '2', addresses: ['::1'] };
    for (const id of [rich.near, rich.far]) {
      await put(agents, id, { ...health, lastSeenAt: new Date().toISOString(), comment: 'c', tags: 't', memoryMb: 7 });
    }
    await lab.client.tasks.update({ body: { id: rich.id, comment: 'other words' } });
    expect((await confirm(token)).status).toBe(200);
  });
});
