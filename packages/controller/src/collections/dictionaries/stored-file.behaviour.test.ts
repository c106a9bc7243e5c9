import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Caller } from '../../handlers.ts';
import { referencesTo } from '../../store/links.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { dictionaryHandlers } from '../dictionaries.ts';

let controller: TestController;
let dictionaries: SignedIn['client']['dictionaries'];
beforeAll(async () => {
  controller = await startTestController();
  dictionaries = (await controller.signIn()).client.dictionaries;
});
afterAll(() => controller.close());

describe('a stored file', () => {
  const contents = new Map([
    [
      1,
      {
        name: 'people.csv',
        text: `login,w\n${Array.from({ length: 3000 }, (_, i) => `user${i},${i % 2}`).join('\n')}\n`,
      },
    ],
    [2, { name: 'ragged.csv', text: 'a,b\n1\n' }],
    [3, { name: 'words.txt', text: 'one\ntwo\nthree' }],
  ]);
  let open = 0;
  const files = {
    find: async (_: unknown, id: number) => {
      const found = contents.get(id);
      return (
        found && {
          name: found.name,
          open: async () => {
            open += 1;
            return Readable.from([Buffer.from(found.text)]).once('close', () => {
              open -= 1;
            });
          },
        }
      );
    },
  };
  const handlers = () => dictionaryHandlers({ store: controller.store, settings: controller.settings, files });
  const caller = { userId: 1, address: '', requestId: 'test', operation: 'dictionaries.create' } as Caller;
  const create = async (body: object) => (await handlers().create({ body: body as never }, caller)).data;
  const get = async (id: number, sample = 1) =>
    (await handlers().get({ params: { id }, query: { sample } }, caller)).data;

  it('is read whenever it is used: checked once, linked, and drawn from', async () => {
    const id = await create({ name: 'From file', fileID: 1, selection: 'random' });
    const found = await get(id, 5);
    expect(found).toMatchObject({
      type: 'file',
      columns: ['login', 'w'],
      rows: [],
      rowCount: 3000,
      config: { $source: { fileID: 1, delimiter: ',', quote: '"', header: true, encoding: 'utf-8', skipEmpty: true } },
    });
    for (const { login, w } of found.sample ?? []) expect(Number(login?.slice(4)) % 2).toBe(Number(w));
    expect(new Set(found.sample?.map(({ login }) => login)).size).toBeGreaterThan(2);
    expect(await referencesTo(controller.store.read, 'file', [1])).toMatchObject([{ kind: 'dictionary', id }]);
    await handlers().update({ body: { id, selection: 'sequential' } }, caller);
    expect((await get(id, 2)).sample).toEqual([
      { login: 'user0', w: '0' },
      { login: 'user1', w: '1' },
    ]);
    await handlers().removeMany({ body: { array: [id] } }, caller);
    expect(await referencesTo(controller.store.read, 'file', [1])).toEqual([]);
    await vi.waitFor(() => expect(open).toBe(0));
  });

  it('draws by the weights of a column', async () => {
    const config = { $selection: { weightColumn: 'w' }, w: { hidden: true } };
    const id = await create({ name: 'Weighted file', fileID: 1, selection: 'weighted', config });
    const { sample = [] } = await get(id, 20);
    expect(sample).toHaveLength(20);
    for (const { login } of sample) expect(Number(login?.slice(4)) % 2).toBe(1);
    await expect(
      create({ name: 'Bad weights', fileID: 1, selection: 'weighted', config: { $selection: { weightColumn: 'x' } } }),
    ).rejects.toMatchObject({ data: { issues: [{ path: '/config/$selection/weightColumn' }] } });
  });

  it('is copied where a list or a table is wanted', async () => {
    const id = await create({ name: 'Copied', fileID: 3, type: 'list' });
    expect(await get(id)).toMatchObject({ type: 'list', columns: ['value'], values: ['one', 'two', 'three'] });
    const table = await create({ name: 'Copied table', fileID: 1, type: 'table', columns: ['name', 'weight'] });
    expect(await get(table)).toMatchObject({ columns: ['name', 'weight'], rowCount: 3000 });
    expect(await referencesTo(controller.store.read, 'file', [1, 3])).toMatchObject([{ name: 'Weighted file' }]);
    const misfit = { $selection: { weights: [1, 2] } };
    await expect(
      create({ name: 'x', fileID: 3, type: 'list', selection: 'weighted', config: misfit }),
    ).rejects.toMatchObject({
      data: { issues: [{ path: '/config/$selection/weights', code: 'WEIGHTS_COUNT' }] },
    });
  });

  it('is refused where it is ragged, missing or not wanted', async () => {
    await expect(create({ name: 'x', fileID: 2 })).rejects.toMatchObject({
      data: { issues: [{ path: '/fileID', code: 'ROW_RAGGED', message: 'line 2 has 1 cells, not 2' }] },
    });
    await expect(create({ name: 'x', fileID: 9 })).rejects.toMatchObject({
      code: 'INVALID_DICTIONARY',
      data: { issues: [{ path: '/fileID', code: 'UNKNOWN_FILE' }] },
    });
    await expect(create({ name: 'x', type: 'file', config: { $source: { fileID: 9 } } })).rejects.toMatchObject({
      data: { issues: [{ path: '/config/$source/fileID', code: 'UNKNOWN_FILE' }] },
    });
    await expect(create({ name: 'x', fileID: 1, type: 'range', rows: [['a']] })).rejects.toMatchObject({
      data: {
        issues: [
          { path: '/fileID', code: 'FILE_UNEXPECTED' },
          { path: '/rows', code: 'ROWS_UNEXPECTED' },
        ],
      },
    });
    await expect(create({ name: 'x', type: 'list', values: ['a'], header: true })).rejects.toMatchObject({
      data: { issues: [{ path: '/header', code: 'FILE_MISSING' }] },
    });
    await vi.waitFor(() => expect(open).toBe(0));
  });

  it('is read for an update that loses against one made meanwhile', async () => {
    const id = await create({ name: 'Raced', fileID: 3 });
    const race = {
      find: async (executor: never, fileID: number) => {
        const file = await files.find(executor, fileID);
        await handlers().update({ body: { id, description: 'renamed meanwhile' } }, caller);
        return file;
      },
    };
    const slow = dictionaryHandlers({ store: controller.store, settings: controller.settings, files: race });
    await expect(slow.update({ body: { id, selection: 'random' } }, caller)).rejects.toMatchObject({
      code: 'STALE_OBJECT',
    });
    expect(await get(id)).toMatchObject({ selection: 'sequential', description: 'renamed meanwhile' });
  });

  it('is not found where no files are kept', async () => {
    await expect(dictionaries.create({ body: { name: 'x', fileID: 1 } as never })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/fileID', code: 'UNKNOWN_FILE' }] },
    });
  });
});
