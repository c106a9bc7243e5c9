import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../caller.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import type { DictionaryFiles } from './content.ts';
import { dictionaryHandlers } from './handlers.ts';

let controller: TestController;
let client: SignedIn['client'];
let dictionaries: SignedIn['client']['dictionaries'];
let people: number;
let ragged: number;
let words: number;
beforeAll(async () => {
  controller = await startTestController();
  client = (await controller.signIn()).client;
  dictionaries = client.dictionaries;
  const rows = Array.from({ length: 3000 }, (_, i) => `user${i},${i % 2}`);
  people = await store('people.csv', `login,w\n${rows.join('\n')}\n`);
  ragged = await store('ragged.csv', 'a,b\n1,2\n3\n');
  words = await store('words.txt', 'one\ntwo\nthree');
});
afterAll(() => controller.close());

const store = async (filename: string, text: string | Buffer) => {
  const fields = { name: filename, category: 'other' as const };
  const { data } = await client.files.create({ upload: { fields, file: new Blob([text as BlobPart]), filename } });
  return data;
};
const create = async (body: object) => (await dictionaries.create({ body: body as never })).data;
const get = async (id: number, sample = 1) => (await dictionaries.get({ params: { id }, query: { sample } })).data;
const removeFile = (id: number) => client.files.removeMany({ body: { array: [id] }, query: {} });

describe('a table of routes', () => {
  // Header of MRT and a table without peers.
  const peers = Buffer.from('6555b800000d000100000008c633640400000000', 'hex');
  const profile = (fileID: number) => ({
    name: `Table ${fileID}`,
    type: 'protocol.bgp',
    config: { imported: { fileID } },
  });

  it.each([
    ['plain', (bytes: Buffer) => bytes],
    ['gzip', gzipSync],
  ])('is taken from an MRT file, %s, and keeps it from deletion', async (name, packed) => {
    const fileID = await store(`${name}.mrt`, packed(peers));
    await create(profile(fileID));
    await expect(removeFile(fileID)).rejects.toMatchObject({ status: 409, data: { code: 'IN_USE' } });
  });

  it.each([
    ['words', 'three words here', 'is no MRT file'],
    ['gzip', gzipSync('three words here'), 'is no MRT file'],
    ['half a gzip', Buffer.from('1f8b0800', 'hex'), 'is no MRT file'],
    ['bzip2', 'BZh91AY&SY-and-more', 'compressed with bzip2'],
    ['nothing', 'a', 'is no MRT file'],
  ])('is refused with its pointer: %s', async (name, content, message) => {
    const fileID = await store(`${name}.bin`, content);
    await expect(create(profile(fileID))).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [{ path: '/config/imported/fileID', code: 'NOT_MRT', message: expect.stringContaining(message) }],
      },
    });
  });

  it('is refused where the file is not there', async () => {
    await expect(create(profile(987_654))).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/config/imported/fileID' }] },
    });
  });
});

describe('a stored file', () => {
  it('is read whenever it is used: checked once, kept from deletion, and drawn from', async () => {
    const id = await create({ name: 'From file', fileID: people, selection: 'random' });
    const found = await get(id, 5);
    const format = { delimiter: ',', quote: '"', header: true, encoding: 'utf-8', skipEmpty: true };
    expect(found).toMatchObject({
      type: 'file',
      columns: ['login', 'w'],
      rows: [],
      rowCount: 3000,
      config: { $source: { fileID: people, ...format } },
    });
    for (const { login, w } of found.sample ?? []) expect(Number(login?.slice(4)) % 2).toBe(Number(w));
    expect(new Set(found.sample?.map(({ login }) => login)).size).toBeGreaterThan(2);
    await dictionaries.update({ body: { id, selection: 'sequential' } });
    expect((await get(id, 2)).sample).toEqual([
      { login: 'user0', w: '0' },
      { login: 'user1', w: '1' },
    ]);
    await dictionaries.update({ body: (await get(id)) as never });
    expect(await get(id)).toMatchObject({ type: 'file', rowCount: 3000 });
    await expect(removeFile(people)).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references: [{ kind: 'dictionary', id, name: 'From file' }] },
    });
    await dictionaries.removeMany({ body: { array: [id] } });
  });

  it('is let go when the dictionary reads another one, or none', async () => {
    const old = await store('old.csv', 'a\n1\n');
    const id = await create({ name: 'Moving', fileID: old });
    await dictionaries.update({ body: { id, config: { $source: { fileID: words } }, columns: null } });
    expect(await get(id, 3)).toMatchObject({
      columns: ['value'],
      rowCount: 3,
      sample: [{ value: 'one' }, { value: 'two' }, { value: 'three' }],
    });
    expect(await removeFile(old)).toEqual({ data: [old] });
    await dictionaries.update({ body: { id, type: 'list', values: ['a'], config: null } });
    expect(await get(id)).toMatchObject({ type: 'list', rowCount: 1, values: ['a'] });
  });

  it('draws by the weights of a column', async () => {
    const config = { $selection: { weightColumn: 'w' }, w: { hidden: true } };
    const id = await create({ name: 'Weighted file', fileID: people, selection: 'weighted', config });
    const { sample = [] } = await get(id, 20);
    expect(sample).toHaveLength(20);
    for (const { login } of sample) expect(Number(login?.slice(4)) % 2).toBe(1);
    const unknown = { $selection: { weightColumn: 'x' } };
    await expect(
      create({ name: 'Bad weights', fileID: people, selection: 'weighted', config: unknown }),
    ).rejects.toMatchObject({ data: { issues: [{ path: '/config/$selection/weightColumn' }] } });
  });

  it('is copied where a list or a table is wanted, and may go afterwards', async () => {
    const file = await store('copied.txt', 'one\ntwo\n');
    const id = await create({ name: 'Copied', fileID: file, type: 'list' });
    expect(await get(id)).toMatchObject({ type: 'list', columns: ['value'], values: ['one', 'two'] });
    expect(await removeFile(file)).toEqual({ data: [file] });
    const table = await create({ name: 'Copied table', fileID: people, type: 'table', columns: ['name', 'weight'] });
    expect(await get(table)).toMatchObject({ columns: ['name', 'weight'], rowCount: 3000 });
    const misfit = { $selection: { weights: [1, 2] } };
    await expect(
      create({ name: 'x', fileID: words, type: 'list', selection: 'weighted', config: misfit }),
    ).rejects.toMatchObject({ data: { issues: [{ path: '/config/$selection/weights', code: 'WEIGHTS_COUNT' }] } });
  });

  it('is refused where it is ragged, missing or not wanted', async () => {
    await expect(create({ name: 'x', fileID: ragged })).rejects.toMatchObject({
      data: { issues: [{ path: '/fileID', code: 'ROW_RAGGED', message: 'line 3 has 1 cells, not 2' }] },
    });
    await expect(create({ name: 'x', fileID: 999_999 })).rejects.toMatchObject({
      status: 400,
      data: { code: 'INVALID_DICTIONARY', issues: [{ path: '/fileID', code: 'UNKNOWN_FILE' }] },
    });
    await expect(create({ name: 'x', type: 'file', config: { $source: { fileID: 999_999 } } })).rejects.toMatchObject({
      data: { issues: [{ path: '/config/$source/fileID', code: 'UNKNOWN_FILE' }] },
    });
    await expect(create({ name: 'x', fileID: people, type: 'range', rows: [['a']] })).rejects.toMatchObject({
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
  });

  it('is read for an update that loses against one made meanwhile', async () => {
    const id = await create({ name: 'Raced', fileID: words });
    const files: DictionaryFiles = {
      find: async (executor, fileID) => {
        await dictionaries.update({ body: { id, description: 'changed meanwhile' } });
        return controller.files.find(executor, fileID);
      },
    };
    const handlers = dictionaryHandlers({ store: controller.store, settings: controller.settings, files });
    const caller = { userId: 1, address: '', requestId: 'test', operation: 'dictionaries.update' } as Caller;
    await expect(handlers.update({ body: { id, selection: 'random' } }, caller)).rejects.toMatchObject({
      code: 'STALE_OBJECT',
    });
    expect(await get(id)).toMatchObject({ selection: 'sequential', description: 'changed meanwhile' });
  });
});
