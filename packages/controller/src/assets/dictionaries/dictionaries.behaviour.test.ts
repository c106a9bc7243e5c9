import { permissions } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setLinks } from '../../store/engine/links.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';

let controller: TestController;
let administrator: SignedIn;
let dictionaries: SignedIn['client']['dictionaries'];
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  dictionaries = administrator.client.dictionaries;
});
afterAll(() => controller.close());

type NewBody = NonNullable<NonNullable<Parameters<typeof dictionaries.create>[0]>['body']>;
type GetQuery = NonNullable<Parameters<typeof dictionaries.get>[0]['query']>;

const create = async (body: NewBody) => (await dictionaries.create({ body })).data;
const get = async (id: number, query: GetQuery = {}) => (await dictionaries.get({ params: { id }, query })).data;
const count = async () => (await dictionaries.list()).cursor.totalRows;
const numbered = (length: number) => Array.from({ length }, (_, i) => [`user${i}`, `secret${i}`]);
const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };

describe('dictionaries', () => {
  it('are created, read back whole, changed and deleted', async () => {
    const id = await create({
      name: 'Logins',
      type: 'table',
      tags: 'web,login',
      columns: ['login', 'password'],
      rows: numbered(3),
      config: { login: { encode: 'url' } },
    });
    const logins = await get(id);
    expect(logins).toEqual({
      id,
      name: 'Logins',
      description: '',
      type: 'table',
      tags: 'web,login',
      selection: 'sequential',
      columns: ['login', 'password'],
      rows: numbered(3),
      values: [],
      config: { login: { encode: 'url' } },
      source: 'user',
      rowCount: 3,
      issuerId: 1,
      issuer: { id: 1, email: 'admin@example.test', realName: 'Administrator' },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const answer = await dictionaries.update({
      body: { ...logins, selection: 'shuffle', rows: [...logins.rows, ['anna', 'x']] } as never,
    });
    expect(answer).toBeUndefined();
    expect(await get(id)).toMatchObject({ selection: 'shuffle', rowCount: 4, rows: [...numbered(3), ['anna', 'x']] });
    await dictionaries.update({ body: { id, selection: null, description: 'four people', config: null } });
    expect(await get(id)).toMatchObject({
      selection: 'sequential',
      rowCount: 4,
      config: {},
      description: 'four people',
    });
    expect(await dictionaries.removeMany({ body: { array: [id] } })).toEqual({ data: [id] });
    await expect(dictionaries.get({ params: { id } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('hold every type of values', async () => {
    const drafts: NewBody[] = [
      { name: 'type list', type: 'list', values: ['a', '', 'ü'] },
      { name: 'type range', type: 'range', config: { value: { kind: 'integer', start: '1', end: '9' } } },
      { name: 'type random', type: 'random', config: { value: { kind: 'hex', length: '16' } } },
      { name: 'type pattern', type: 'pattern', config: { value: { pattern: 'user-[a-z]{4}-#{3}' } } },
    ];
    for (const draft of drafts) {
      const { rowCount, values, config } = await get(await create(draft));
      expect({ rowCount, values, config }).toEqual({
        rowCount: draft.values?.length ?? 0,
        values: draft.values ?? [],
        config: draft.config ?? {},
      });
    }
  });

  it('are refused with a pointer to every problem, and nothing is stored', async () => {
    const before = await count();
    const bad = create({
      name: 'Bad',
      type: 'table',
      selection: 'weighted',
      columns: ['a', 'a', '$b'],
      rows: [['1', '2', '3'], ['1']],
      config: { $selection: { weightColumn: 'w', seeds: 1 }, c: { encode: 'rot13' } },
    });
    await expect(bad).rejects.toMatchObject({ status: 400, data: { code: 'INVALID_DICTIONARY' } });
    const { data } = await bad.catch((error) => error);
    expect(data.issues.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`).sort()).toEqual([
      '/columns/1 COLUMN_DUPLICATE',
      '/columns/2 COLUMN_INVALID',
      '/config/$selection/seeds CONFIG_UNKNOWN_MEMBER',
      '/config/$selection/weightColumn WEIGHT_COLUMN_UNKNOWN',
      '/config/c CONFIG_UNKNOWN_COLUMN',
      '/rows/1 ROW_RAGGED',
    ]);
    await expect(create({ name: 'No type' } as NewBody)).rejects.toMatchObject({
      data: { issues: [{ path: '/type', code: 'REQUIRED' }] },
    });
    await expect(create({ name: 'x', type: 'sack' as 'list' })).rejects.toMatchObject({
      data: { issues: [{ path: '/type', code: 'ENUM' }] },
    });
    await expect(create({ name: 'x', type: 'list', values: [1] } as never)).rejects.toMatchObject({
      data: { issues: [{ path: '/values/0', code: 'TYPE' }] },
    });
    await expect(
      create({ name: 'x', type: 'table', columns: ['a'], rows: [['a'], [1], 'b'] } as never),
    ).rejects.toMatchObject({
      data: {
        issues: [
          { path: '/rows/1/0', code: 'TYPE' },
          { path: '/rows/2', code: 'TYPE' },
        ],
      },
    });
    expect(await count()).toBe(before);
  });

  it('have names that are unique for each owner', async () => {
    await create({ name: 'Mine', type: 'list', values: ['a'] });
    await expect(create({ name: 'Mine', type: 'list', values: ['a'] })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/name', code: 'DUPLICATE' }] },
    });
    const other = await controller.signInWith(administrator, [
      permissions['dictionaries.read'],
      permissions['dictionaries.write'],
    ]);
    const { data: id } = await other.client.dictionaries.create({
      body: { name: 'Mine', type: 'list', values: ['a'] },
    });
    expect(await get(id)).toMatchObject({ issuerId: other.id, issuer: { email: other.email } });
  });

  it('refuse a change made from an older version, and one that would make them unsound', async () => {
    const id = await create({ name: 'Versioned', type: 'list', values: ['a', 'b'] });
    const { updatedAt } = await get(id);
    await dictionaries.update({ body: { id, updatedAt, name: 'Versioned 2' } });
    await expect(dictionaries.update({ body: { id, updatedAt, name: 'Versioned 3' } })).rejects.toEqual(
      refused(409, 'STALE_OBJECT'),
    );
    await expect(dictionaries.update({ body: { id, type: 'range' } })).rejects.toMatchObject({
      status: 400,
      data: { code: 'INVALID_DICTIONARY' },
    });
    await expect(dictionaries.update({ body: { id, selection: 'weighted' } })).rejects.toMatchObject({
      data: { issues: [{ path: '/config/$selection/weights', code: 'WEIGHTS_MISSING' }] },
    });
    await dictionaries.update({
      body: { id, type: 'range', values: null, config: { value: { kind: 'integer', start: '1', end: '3' } } },
    });
    expect(await get(id, { sample: 4 })).toMatchObject({
      rowCount: 0,
      values: [],
      sample: ['1', '2', '3', '1'].map((value) => ({ value })),
    });
    await expect(dictionaries.update({ body: { id: 999_999, name: 'x' } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('are not deleted while something uses them, and a bulk deletion is all or nothing', async () => {
    const used = await create({ name: 'Used', type: 'list', values: ['a'] });
    const free = await create({ name: 'Free', type: 'list', values: ['a'] });
    await controller.store.change(origin, (tx) =>
      setLinks(tx, { kind: 'task', id: 77, name: 'nightly' }, [{ kind: 'dictionary', id: used }]),
    );
    await expect(dictionaries.removeMany({ body: { array: [free, used] } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references: [{ kind: 'task', id: 77, name: 'nightly' }] },
    });
    await expect(dictionaries.removeMany({ body: { array: [free, 999_999] } })).rejects.toMatchObject({
      status: 404,
      data: { missing: [999_999] },
    });
    expect(await get(free)).toMatchObject({ values: ['a'] });
  });

  it('are listed without rows, filtered, searched and sorted', async () => {
    await create({ name: 'Filter table', type: 'table', tags: 'f1,f2', columns: ['f-col'], rows: [['Ä']] });
    await create({
      name: 'Filter range',
      type: 'range',
      tags: 'f2',
      config: { f_col: { kind: 'integer', start: 1, end: 2 } },
    });
    await create({ name: 'Filter list', type: 'list', selection: 'pinned', tags: 'f12', values: ['a', 'b'] });
    const names = async (query: NonNullable<NonNullable<Parameters<typeof dictionaries.list>[0]>['query']>) =>
      (await dictionaries.list({ query: { key: 'name', order: 'asc', ...query } })).data.map(({ name }) => name);
    expect(await names({ search: 'FILTER ' })).toEqual(['Filter list', 'Filter range', 'Filter table']);
    expect(await names({ search: 'filter', type: 'range' })).toEqual(['Filter range']);
    expect(await names({ tag: 'f2' })).toEqual(['Filter range', 'Filter table']);
    expect(await names({ tag: 'f' })).toEqual([]);
    expect(await names({ selection: 'pinned' })).toEqual(['Filter list']);
    expect(await names({ column: 'f-col' })).toEqual(['Filter table']);
    expect(await names({ column: 'f_col' })).toEqual(['Filter range']);
    expect(await names({ search: 'filter', column: 'value' })).toEqual(['Filter list']);
    await expect(names({ key: 'rowCount' as 'name' })).rejects.toMatchObject({ status: 400 });
    const { data } = await dictionaries.list({ query: { search: 'filter list' } });
    expect(data).toMatchObject([{ rows: [], values: [], rowCount: 2, rowsPartial: true }]);
    const all = await dictionaries.all();
    expect(all.cursor.totalRows).toBe(await count());
    expect(all.data.find(({ name }) => name === 'Filter table')).toMatchObject({ rows: [], rowCount: 1 });
  });
});

describe('protocol profiles', () => {
  it('keep what was said, and no more', async () => {
    const config = { session: { localAs: 65_010, peerAs: 65_020 }, routes: { ipv4Count: 1000 } };
    const id = await create({ name: 'Edge', type: 'protocol.bgp', config });
    expect(await get(id)).toMatchObject({ type: 'protocol.bgp', config, rowCount: 0 });
    await dictionaries.update({ body: { id, config: { session: { localAs: 65_011 } } } });
    expect((await get(id)).config).toEqual({ session: { localAs: 65_011 } });
  });

  it('are checked strictly, also when only the config or only the type changes', async () => {
    await expect(
      create({
        name: 'x',
        type: 'protocol.igmp-querier',
        config: { querier: { version: 4 }, host: {} },
        values: ['a'],
      }),
    ).rejects.toMatchObject({
      data: {
        issues: [
          { path: '/config/host', code: 'UNKNOWN_MEMBER' },
          { path: '/config/querier/version', code: 'MAXIMUM' },
          { path: '/values', code: 'VALUES_UNEXPECTED' },
        ],
      },
    });
    const id = await create({ name: 'Timers', type: 'protocol.bfd', config: { session: { txMs: 50 } } });
    await expect(dictionaries.update({ body: { id, config: { session: { txMs: 1 } } } })).rejects.toMatchObject({
      data: { issues: [{ path: '/config/session/txMs', code: 'MINIMUM' }] },
    });
    await expect(dictionaries.update({ body: { id, type: 'protocol.bgp' } })).rejects.toMatchObject({
      data: { issues: [{ path: '/config/session/txMs', code: 'UNKNOWN_MEMBER' }] },
    });
  });
});
