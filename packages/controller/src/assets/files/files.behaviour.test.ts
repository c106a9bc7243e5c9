import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { permissions } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { setLinks } from '../../store/engine/links.ts';
import { refused } from '../../testing/refused.ts';
import { useTestController } from '../../testing/use-controller.ts';

const controller = await useTestController();
const user = await controller.signIn();

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

type Fields = { category: 'other' | 'csv' | 'payload' | 'har'; [name: string]: unknown };
const upload = (bytes: Buffer<ArrayBuffer>, fields: Fields = { category: 'other' }, filename = 'Big File.bin') =>
  user.client.files.create({ upload: { fields: fields as never, file: new Blob([bytes]), filename } });
const recordOf = async (id: number) => (await user.client.files.get({ params: { id } })).data;

describe('files', () => {
  it('are uploaded as a form, hashed in one pass and read back', async () => {
    const bytes = randomBytes(300_000);
    const { data: id, duplicate } = await upload(bytes, { category: 'payload', tags: 'blob', tagsFromName: true });
    const digest = (name: string) => createHash(name).update(bytes).digest('hex');
    expect(duplicate).toBe(false);
    expect(await recordOf(id)).toMatchObject({
      id,
      name: 'Big File.bin',
      category: 'payload',
      mime: 'application/octet-stream',
      size: 300_000,
      md5: digest('md5'),
      sha1: digest('sha1'),
      sha256: digest('sha256'),
      sha3_384: digest('sha3-384'),
      original_sha256: digest('sha256'),
      source: 'upload',
      tags: 'blob,big,file',
      syncReady: true,
      issuerID: 1,
    });
    const { cursor, data } = await user.client.files.all();
    expect(cursor).toMatchObject({ currentPage: 1, totalPages: 1, totalRows: data.length });
    expect(data.find((file) => file.id === id)?.issuer).toEqual({
      id: 1,
      email: 'admin@example.test',
      realName: 'Administrator',
    });
  });

  it('are created from base64, and refuse what is no base64 or too much of it', async () => {
    const body = { name: 'hello.txt', category: 'other', content: Buffer.from('hello\n').toString('base64') } as const;
    const { data: id } = await user.client.files.create({ body });
    expect(await recordOf(id)).toMatchObject({ mime: 'text/plain', size: 6 });
    await expect(user.client.files.create({ body: { ...body, content: 'a$b=' } })).rejects.toMatchObject({
      data: { issues: [{ path: '/content', code: 'BAD_BASE64' }] },
    });
    const content = Buffer.alloc(10 * 1_048_576 + 1).toString('base64');
    await expect(user.client.files.create({ body: { ...body, content } })).rejects.toEqual(
      refused(413, 'FILE_TOO_LARGE'),
    );
    await expect(user.client.files.create({ body: { name: 'x', category: 'other' } })).rejects.toMatchObject({
      data: { issues: [{ path: '/content', code: 'REQUIRED' }] },
    });
  });

  it('refuse content of another hash or another kind than announced, and store nothing of it', async () => {
    const before = (await user.client.files.categories()).totals;
    const bytes = Buffer.from('plain words, nothing else');
    await expect(upload(bytes, { category: 'other', expectSha256: 'a'.repeat(64) })).rejects.toEqual(
      refused(400, 'HASH_MISMATCH'),
    );
    await expect(upload(bytes, { category: 'har' })).rejects.toEqual(refused(400, 'CATEGORY_MISMATCH'));
    await expect(upload(bytes, { category: 'malware' as never })).rejects.toEqual(refused(400, 'MALWARE_CATEGORY'));
    expect((await user.client.files.categories()).totals.files).toBe(before.files);
  });

  it('with equal content are reused, copied or refused, as the client wants', async () => {
    const bytes = randomBytes(5000);
    const first = await upload(bytes);
    expect(await upload(bytes)).toEqual({ data: first.data, duplicate: true });
    const copy = await upload(bytes, { category: 'other', onDuplicate: 'copy' }, 'copy.bin');
    expect(copy).toEqual({ data: expect.any(Number), duplicate: true });
    expect(copy.data).not.toBe(first.data);
    await expect(upload(bytes, { category: 'other', onDuplicate: 'error' })).rejects.toEqual(refused(409, 'DUPLICATE'));
    const other = await upload(bytes, { category: 'payload' });
    expect(other.duplicate).toBe(true);
    expect(other.data).not.toBe(first.data);

    await user.client.files.removeMany({ body: { array: [first.data] } });
    const kept = await user.client.files.download({ params: { id: copy.data } });
    expect(Buffer.from(await kept.arrayBuffer()).equals(bytes)).toBe(true);
    await user.client.files.removeMany({ body: { array: [copy.data, other.data] } });
    expect(await user.client.files.check({ body: { array: [{ ref: 'a', sha256: sha256(bytes) }] } })).toEqual({
      data: [{ ref: 'a', exists: false, id: null, sameCategory: false }],
    });
  });

  it('are found by category, tags, hash, size, time and use', async () => {
    const bytes = randomBytes(7777);
    const fields = { category: 'payload', tags: 'green,round', source: 'import' } as const;
    const { data: id } = await upload(bytes, fields, 'filtered.bin');
    const { data: plain } = await upload(randomBytes(10), { category: 'other', tags: 'green' });
    const idsOf = async (query: object) =>
      (await user.client.files.list({ query: { count: 100, ...query } })).data.map((file) => file.id);
    expect(await idsOf({ tag: ['green'] })).toEqual(expect.arrayContaining([id, plain]));
    expect(await idsOf({ tag: ['green', 'round'] })).toEqual([id]);
    expect(await idsOf({ tag: ['gree'] })).toEqual([]);
    expect(await idsOf({ category: ['payload', 'csv'], search: 'FILTERED' })).toEqual([id]);
    expect(await idsOf({ hash: sha256(bytes).toUpperCase() })).toEqual([id]);
    expect(await idsOf({ hash: createHash('sha3-384').update(bytes).digest('hex') })).toEqual([id]);
    expect(await idsOf({ sizeMin: 7777, sizeMax: 7777 })).toEqual([id]);
    expect(await idsOf({ source: 'import' })).toEqual([id]);
    expect(await idsOf({ createdTo: '2020-01-01T00:00:00Z' })).toEqual([]);
    expect(await idsOf({ syncReady: false })).toEqual([]);
    expect(await idsOf({ hash: sha256(bytes), unused: true, issuerID: 1 })).toEqual([id]);
    expect(await idsOf({ hash: sha256(bytes), unused: false })).toEqual([]);
    const { data: tags } = await user.client.files.tags({ query: { search: 'ree' } });
    expect(tags).toEqual([{ tag: 'green', count: 2 }]);
    expect((await user.client.files.tags({ query: { category: 'payload', limit: 1, search: 'r' } })).data).toHaveLength(
      1,
    );
    await expect(idsOf({ key: 'md5' })).rejects.toMatchObject({ status: 400 });
  });

  it('say before an upload whether their content is there', async () => {
    const bytes = randomBytes(100);
    const { data: id } = await upload(bytes, { category: 'payload' });
    const ask = { sha256: sha256(bytes), size: 100 };
    const { data } = await user.client.files.check({
      body: {
        array: [
          { ref: 'same', ...ask, category: 'payload' },
          { ref: 'other', ...ask, category: 'csv' },
          { ref: 'longer', ...ask, size: 101 },
          { ref: 'sample', ...ask, category: 'malware' },
        ],
      },
    });
    expect(data).toEqual([
      { ref: 'same', exists: true, id, sameCategory: true },
      { ref: 'other', exists: true, id, sameCategory: false },
      { ref: 'longer', exists: false, id: null, sameCategory: false },
      { ref: 'sample', exists: false, id: null, sameCategory: false },
    ]);
  });

  it('change their description, and their category only from other to what they are', async () => {
    const { files } = user.client;
    const { data: id } = await upload(Buffer.from('a,b\n1,2\n3,4\n'), { category: 'other' }, 'table.csv');
    const before = await recordOf(id);
    expect(before.mime).toBe('text/csv');
    await files.update({ body: { ...before, name: 'renamed.csv', tags: 'one,two' } });
    await expect(files.update({ body: { ...before, tags: 'three' } })).rejects.toEqual(refused(409, 'STALE_OBJECT'));
    await expect(files.update({ body: { id, category: 'har' } })).rejects.toEqual(refused(400, 'CATEGORY_MISMATCH'));
    await expect(files.update({ body: { id, category: 'malware' } })).rejects.toEqual(refused(409, 'CATEGORY_FIXED'));
    await files.update({ body: { id, category: 'csv', tags: null } });
    expect(await recordOf(id)).toMatchObject({ name: 'renamed.csv', tags: '', category: 'csv', syncReady: true });
    await expect(files.update({ body: { id, category: 'other' } })).rejects.toEqual(refused(409, 'CATEGORY_FIXED'));
  });

  it('are not deleted while a record uses them; what was made from them goes by force', async () => {
    const { files } = user.client;
    const { data: id } = await upload(randomBytes(50));
    const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };
    await controller.store.change(origin, (tx) =>
      setLinks(tx, { kind: 'application', id: 77, name: 'Shop' }, [{ kind: 'file', id }]),
    );
    const references = [{ kind: 'application', id: 77, name: 'Shop' }];
    await expect(files.removeMany({ body: { array: [id] } })).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references },
    });
    const { data } = await files.get({ params: { id }, query: { include: 'references,derived,upload' } });
    expect(data).toMatchObject({ references, derived: [], upload: null });
    await controller.store.change(origin, (tx) => setLinks(tx, { kind: 'application', id: 77, name: 'Shop' }, []));
    expect(await files.removeMany({ body: { array: [id] } })).toEqual({ data: [id] });
    await expect(files.removeMany({ body: { array: [id] } })).rejects.toMatchObject({
      status: 404,
      data: { missing: [id] },
    });
  });

  it('made from others remember them, and go with them by force unless they are used', async () => {
    const service = controller.files;
    const { data: parent } = await upload(randomBytes(64));
    const { sha256: original_sha256 } = await recordOf(parent);
    const origin = { userId: 1, address: '', requestId: 'test', operation: 'test' };
    const derive = async (name: string) => {
      const staged = await service.blobs.stage(Readable.from([randomBytes(32)]));
      const facts = { name, category: 'other', kind: 'binary', mime: 'application/octet-stream' } as const;
      return service.keep([staged], () =>
        controller.store.change(origin, (tx) =>
          service.insert(tx, staged, { ...facts, source: 'trimmed', original_sha256 }),
        ),
      );
    };
    const [unused, used] = [await derive('unused'), await derive('used')];
    await controller.store.change(origin, (tx) =>
      setLinks(tx, { kind: 'application', id: 78, name: 'Bank' }, [{ kind: 'file', id: used }]),
    );
    const { data } = await user.client.files.get({ params: { id: parent }, query: { include: 'derived' } });
    expect(data.derived).toEqual([unused, used]);
    expect(await recordOf(used)).toMatchObject({ source: 'trimmed', original_sha256, syncReady: true });
    const removed = await user.client.files.removeMany({ body: { array: [parent] }, query: { force: true } });
    expect(removed.data).toEqual([parent, unused]);
    await expect(recordOf(unused)).rejects.toEqual(refused(404, 'NOT_FOUND'));
    expect((await recordOf(used)).name).toBe('used');
  });

  it('that a crash left without a record are swept, and no others', async () => {
    const { blobs, recover } = controller.files;
    const { data: id } = await upload(randomBytes(500));
    const orphan = await blobs.stage(Readable.from([randomBytes(500)]));
    await blobs.commit(orphan);
    await blobs.openPart('nobodys');
    expect(await recover()).toMatchObject({ trashed: 1, parts: 1 });
    expect(await blobs.exists(orphan.sha256)).toBe(false);
    expect((await user.client.files.download({ params: { id } })).status).toBe(200);
  });

  it('are previewed by what they are', async () => {
    const preview = async (text: string, query: object = {}) => {
      const { data: id } = await upload(Buffer.from(text), { category: 'other', onDuplicate: 'copy' });
      return (await user.client.files.preview({ params: { id }, query })).data;
    };
    expect(await preview('name,age\nann,31\nbob,42\n', { start: 1 })).toMatchObject({
      kind: 'csv',
      columns: ['name', 'age'],
      rows: [['bob', '42']],
      hasMore: false,
    });
    expect(await preview('first line\nsecond line\n', { limit: 1 })).toMatchObject({
      kind: 'text',
      lines: ['first line'],
      hasMore: true,
    });
    expect(await preview('\0\x01\x02binary')).toMatchObject({ kind: 'hex', rows: [{ offset: 0 }] });
    const request = { method: 'GET', url: 'http://shop.example/' };
    const entry = { time: 12, request, response: { status: 200, content: { size: 5 } } };
    expect(await preview(JSON.stringify({ log: { version: '1.2', entries: [entry] } }))).toMatchObject({
      kind: 'har',
      rows: [{ n: 1, method: 'GET', url: 'http://shop.example/', status: 200, size: 5, ms: 12 }],
    });
  });

  it('count by category, with equal contents counted once', async () => {
    const before = await user.client.files.categories();
    const bytes = randomBytes(4096);
    await upload(bytes, { category: 'payload' });
    await upload(bytes, { category: 'payload', onDuplicate: 'copy' });
    const { data, totals } = await user.client.files.categories();
    const [old, present] = [before.data, data].map((rows) => rows.find(({ category }) => category === 'payload'));
    expect(present?.count).toBe((old?.count ?? 0) + 2);
    expect(totals.bytes).toBe(before.totals.bytes + 8192);
    expect(totals.uniqueBytes).toBe(before.totals.uniqueBytes + 4096);
    expect(totals.quotaBytes).toBeGreaterThan(totals.uniqueBytes);
    expect(data.map(({ category }) => category)).toContain('malware');
  });

  it('are pushed to no agent where there is none', async () => {
    const { data: id } = await upload(randomBytes(20));
    const { files } = user.client;
    expect(await files.sync({ body: { array: [id], agents: 'all' } })).toEqual({
      data: { jobID: expect.any(String), pairs: 0, bytes: 0 },
    });
    await expect(files.sync({ body: { array: [id], agents: [5] } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
    expect(await files.syncState({ params: { id } })).toMatchObject({ cursor: { totalRows: 0 }, data: [] });
    const { data: open } = await files.create({ body: { name: 'later', category: 'other', size: 10 } });
    await expect(files.sync({ body: { array: [id, open], agents: 'all' } })).rejects.toMatchObject({
      data: { code: 'NOT_READY', issues: [{ path: '/array/1' }] },
    });
  });

  it('feed dictionaries', async () => {
    const { data: fileID } = await upload(Buffer.from('host,port\na.example,80\nb.example,443\n'), { category: 'csv' });
    const { data: id } = await user.client.dictionaries.create({ body: { name: 'Hosts of a file', fileID } });
    const { data } = await user.client.dictionaries.get({ params: { id } });
    expect(data).toMatchObject({ type: 'file', columns: ['host', 'port'], rowCount: 2 });
    await expect(user.client.files.removeMany({ body: { array: [fileID] } })).rejects.toEqual(refused(409, 'IN_USE'));
  });

  it('are downloaded only with the permission for it', async () => {
    const { data: id } = await upload(randomBytes(20));
    const reader = await controller.signInWith(user, [permissions['files.read']]);
    await expect(reader.client.files.download({ params: { id } })).rejects.toEqual(refused(403, 'FORBIDDEN'));
    expect((await reader.client.files.get({ params: { id } })).data.size).toBe(20);
  });
});
