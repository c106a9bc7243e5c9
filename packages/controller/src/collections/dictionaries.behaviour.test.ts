import { permissions } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setLinks } from '../store/links.ts';
import { statement } from '../store/statement.ts';
import { type SignedIn, startTestController, type TestController } from '../testing/controller.ts';
import { refused } from '../testing/refused.ts';
import { allBuiltin } from './dictionaries/builtin/all-builtin.ts';
import { ensureBuiltinDictionaries } from './dictionaries/ensure-builtin.ts';

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

describe('rows of a dictionary', () => {
  it('are read by page, and a part of them does not come back as the whole', async () => {
    const rows = numbered(25_000);
    const id = await create({ name: 'Large', type: 'table', columns: ['login', 'password'], rows });
    expect(await get(id, { rowsFrom: 12_345, rowsLimit: 3 })).toMatchObject({
      rowCount: 25_000,
      rows: rows.slice(12_345, 12_348),
      rowsPartial: true,
    });
    expect((await get(id)).rows).toEqual(rows.slice(0, 10_000));
    expect((await get(id, { rowsFrom: 999, rowsLimit: 2 })).rows).toEqual(rows.slice(999, 1001));
    expect((await get(id, { rowsFrom: 24_999, rowsLimit: 10_000 })).rows).toEqual(rows.slice(24_999));
    expect((await get(id, { rowsFrom: 25_000 })).rows).toEqual([]);
    expect((await get(id, { rowsLimit: 0 })).rows).toEqual([]);
    await expect(get(id, { rowsLimit: 10_001 })).rejects.toMatchObject({ status: 400 });

    const page = await get(id, { rowsLimit: 5 });
    await expect(dictionaries.update({ body: page as never })).rejects.toMatchObject({
      data: { code: 'INVALID_DICTIONARY', issues: [{ path: '/rows', code: 'ROWS_PARTIAL' }] },
    });
    await expect(create({ ...page, name: 'Copy' } as never)).rejects.toMatchObject({
      data: { issues: [{ path: '/rows', code: 'ROWS_PARTIAL' }] },
    });
    const light = (await dictionaries.list({ query: { search: 'Large' } })).data[0];
    await dictionaries.update({ body: { ...light, tags: 'big' } as never });
    expect(await get(id, { rowsFrom: 24_999 })).toMatchObject({ tags: 'big', rowCount: 25_000, rows: [rows[24_999]] });
  });

  it('are as many as 100,000 inline, and no more', async () => {
    const values = Array.from({ length: 100_000 }, (_, i) => `v${i}`);
    const id = await create({ name: 'Most', type: 'list', values });
    expect(await get(id, { rowsFrom: 99_999, rowsLimit: 1 })).toMatchObject({ rowCount: 100_000, values: ['v99999'] });
    await expect(create({ name: 'Too many', type: 'list', values: [...values, 'x'] })).rejects.toMatchObject({
      data: { issues: [{ path: '/values', code: 'ROWS_TOO_MANY' }] },
    });
    await expect(create({ name: 'Long', type: 'list', values: ['x'.repeat(8193)] })).rejects.toMatchObject({
      data: { issues: [{ path: '/values/0', code: 'CELL_TOO_LONG' }] },
    });
  });

  it('may fill a body of 16 MiB, not more', async () => {
    const values = Array.from({ length: 2000 }, () => 'x'.repeat(8000));
    const id = await create({ name: 'Heavy', type: 'list', values });
    expect((await get(id)).values).toHaveLength(2000);
    await expect(create({ name: 'Heavier', type: 'list', values: [...values, ...values] })).rejects.toEqual(
      refused(413, 'BODY_TOO_LARGE'),
    );
  });

  it('are gone from the database with their dictionary, and replaced as a whole', async () => {
    const blocks = statement((db, p: { id: number }) =>
      db.selectFrom('dictionaryRows').select('block').where('dictionaryID', '=', p.id),
    );
    const id = await create({ name: 'Blocks', type: 'list', values: Array.from({ length: 2500 }, (_, i) => `${i}`) });
    expect(await blocks.all(controller.store.read, { id })).toHaveLength(3);
    await dictionaries.update({ body: { id, values: ['one'] } });
    expect(await blocks.all(controller.store.read, { id })).toHaveLength(1);
    expect(await get(id)).toMatchObject({ rowCount: 1, values: ['one'] });
    await dictionaries.removeMany({ body: { array: [id] } });
    expect(await blocks.all(controller.store.read, { id })).toEqual([]);
  });
});

describe('a sample', () => {
  const values = ['a', 'b', 'c', 'd', 'e'];
  const drawn = async (id: number, sample: number) =>
    (await get(id, { sample })).sample?.map(({ value }) => value) ?? [];

  it('is drawn by the rule of selection, and the same each time', async () => {
    const samples: Record<string, (string | undefined)[]> = {};
    for (const selection of ['sequential', 'random', 'shuffle', 'unique', 'pinned', 'weighted'] as const) {
      const $selection = { seed: 7, ...(selection === 'weighted' && { weights: [0, 0, 1, 0, 0] }) };
      const id = await create({ name: `Drawn ${selection}`, type: 'list', selection, values, config: { $selection } });
      const first = await drawn(id, 10);
      samples[selection] = first;
      expect(await drawn(id, 10)).toEqual(first);
    }
    expect(samples['sequential']).toEqual([...values, ...values]);
    expect([...(samples['shuffle'] ?? [])].slice(0, 5).sort()).toEqual(values);
    expect([...(samples['unique'] ?? [])].sort()).toEqual(values);
    expect(new Set(samples['weighted'])).toEqual(new Set(['c']));
    for (const selection of ['random', 'pinned']) expect(samples[selection]).toHaveLength(10);
  });

  it('shows columns of one row together, as they are used, and hides the hidden ones', async () => {
    const id = await create({
      name: 'Shown',
      type: 'table',
      columns: ['q', 'w'],
      rows: [['a b', '1']],
      selection: 'weighted',
      config: { q: { encode: 'url' }, w: { hidden: true }, $selection: { weightColumn: 'w' } },
    });
    expect((await get(id, { sample: 2 })).sample).toEqual([{ q: 'a%20b' }, { q: 'a%20b' }]);
  });

  it('is bounded, and refused where there is nothing to draw', async () => {
    const id = await create({ name: 'Profile', type: 'protocol.bfd' });
    await expect(get(id, { sample: 1 })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/sample', in: 'query', code: 'NOTHING_TO_DRAW' }] },
    });
    await expect(get(id, { sample: 1001 })).rejects.toMatchObject({ status: 400 });
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

describe('built-in dictionaries', () => {
  const builtin = async () => (await dictionaries.all()).data.filter(({ source }) => source === 'builtin');

  it('are there from the first start, with rows', async () => {
    const found = await builtin();
    expect(found.map(({ name }) => name)).toEqual(allBuiltin.map(({ name }) => name));
    for (const { id, rowCount, issuerId } of found) {
      expect(issuerId).toBeNull();
      const { rows, values } = await get(id);
      expect(rows.length + values.length).toBe(rowCount);
    }
  });

  it('cannot be changed or deleted, but copied', async () => {
    const [first] = await builtin();
    const { id } = first as { id: number };
    await expect(dictionaries.removeMany({ body: { array: [id] } })).rejects.toMatchObject({
      status: 403,
      data: { code: 'BUILT_IN', ids: [id] },
    });
    await expect(dictionaries.update({ body: { id, name: 'Mine now' } })).rejects.toEqual(refused(403, 'BUILT_IN'));
    const copy = await create((await get(id)) as never);
    expect(await get(copy)).toMatchObject({ source: 'user', values: (await get(id)).values });
    await dictionaries.removeMany({ body: { array: [copy] } });
  });

  it('are made once, renewed when they differ, and left alone otherwise', async () => {
    const entries = statement((db, _: object) => db.selectFrom('auditHead').select('entries'));
    const audited = async () => (await entries.first(controller.store.read, {}))?.entries;
    const before = await builtin();
    const [, second] = before as { id: number }[];
    const start = await audited();
    await ensureBuiltinDictionaries(controller.store);
    expect(await audited()).toBe(start);

    const spoil = statement((db, p: { id: number }) =>
      db.updateTable('dictionaryRows').set({ rows: '["spoilt"]' }).where('dictionaryID', '=', p.id),
    );
    const id = second?.id as number;
    await controller.store.change(origin, (tx) => spoil.all(tx, { id }));
    expect((await get(id)).values).toEqual(['spoilt']);
    await ensureBuiltinDictionaries(controller.store);
    expect((await get(id)).values).toEqual(allBuiltin[1]?.values);
    expect((await builtin()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  });
});
