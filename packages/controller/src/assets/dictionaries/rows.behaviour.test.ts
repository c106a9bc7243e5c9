import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statement } from '../../store/engine/statement.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';

let controller: TestController;
let dictionaries: SignedIn['client']['dictionaries'];
beforeAll(async () => {
  controller = await startTestController();
  dictionaries = (await controller.signIn()).client.dictionaries;
});
afterAll(() => controller.close());

type NewBody = NonNullable<NonNullable<Parameters<typeof dictionaries.create>[0]>['body']>;
const create = async (body: NewBody) => (await dictionaries.create({ body })).data;
type GetQuery = NonNullable<Parameters<typeof dictionaries.get>[0]['query']>;
const get = async (id: number, query: GetQuery = {}) => (await dictionaries.get({ params: { id }, query })).data;
const numbered = (length: number) => Array.from({ length }, (_, i) => [`user${i}`, `secret${i}`]);

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

  it('is given up when it takes too long', async () => {
    const columns = Array.from({ length: 30 }, (_, i) => [`c${i}`, { pattern: '#{8192}' }]);
    const id = await create({ name: 'Slow', type: 'pattern', config: Object.fromEntries(columns) });
    await expect(get(id, { sample: 1000 })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/sample', in: 'query', code: 'SAMPLE_TOO_LARGE' }] },
    });
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
