import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statement } from '../../store/engine/statement.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';
import { allBuiltin, ensureBuiltinDictionaries } from './ensure-builtin.ts';

let controller: TestController;
let dictionaries: SignedIn['client']['dictionaries'];
beforeAll(async () => {
  controller = await startTestController();
  dictionaries = (await controller.signIn()).client.dictionaries;
});
afterAll(() => controller.close());

type NewBody = NonNullable<NonNullable<Parameters<typeof dictionaries.create>[0]>['body']>;
const create = async (body: NewBody) => (await dictionaries.create({ body })).data;
const get = async (id: number) => (await dictionaries.get({ params: { id }, query: {} })).data;
const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };

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
