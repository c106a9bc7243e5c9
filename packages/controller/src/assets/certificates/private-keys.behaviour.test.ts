import { permissions } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyAudit } from '../../store/engine/audit.ts';
import { tables } from '../../store/tables/index.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { openssl, publicKeyIn, useFolder } from './testing/openssl.ts';
import { makeOpensslChain, type OpensslChain } from './testing/openssl-chain.ts';
import { filesIn, spilledIn } from './testing/spilled-key.ts';

const folder = useFolder();
let chain: OpensslChain;
let controller: TestController;
let administrator: SignedIn;
let certificates: SignedIn['client']['certificates'];
let reader: SignedIn;
let id: number;
let key: string;
beforeAll(async () => {
  chain = await makeOpensslChain(folder);
  controller = await startTestController();
  administrator = await controller.signIn();
  certificates = administrator.client.certificates;
  reader = await controller.signInWith(administrator, [
    permissions['certificates.read'],
    permissions['certificates.write'],
  ]);
  ({ data: id } = await certificates.create({
    body: { name: 'Kept', public: chain.leaf + chain.root, private: chain.key },
  }));
  key = (await certificates.get({ params: { id }, query: { include: 'private' } })).data.private;
});
afterAll(() => controller.close());

const rowsOf = (table: string) =>
  controller.store.read.run({ name: `all_${table}`, sql: `select * from "${table}"` }, []) as Promise<
    Record<string, unknown>[]
  >;
const auditOf = async (operation: string) => {
  const rows = await rowsOf('audit');
  return rows
    .filter((row) => row['operation'] === operation)
    .sort((a, b) => Number(a['id']) - Number(b['id']))
    .map(({ userID, outcome, targets, detail }) => ({
      userID,
      outcome,
      targets: JSON.parse(String(targets)),
      detail: JSON.parse(String(detail)),
    }));
};

describe('a private key', () => {
  it('is handed out to who asks for it with the permission, and openssl can use it', async () => {
    expect(await publicKeyIn(folder, key)).toBe(await publicKeyIn(folder, chain.leaf));
    expect((await openssl('pkey', '-in', await folder.write('out.key', key), '-noout', '-check')).text).toContain(
      'Key is valid',
    );
    const keyReader = await controller.signInWith(administrator, [
      permissions['certificates.read'],
      permissions['certificates.private'],
    ]);
    const { data } = await keyReader.client.certificates.get({ params: { id }, query: { include: 'private' } });
    expect([data.private, data.pem]).toEqual([key, undefined]);
    const { data: whole } = await keyReader.client.certificates.get({
      params: { id },
      query: { include: 'private', format: 'pem' },
    });
    expect(whole.pem).toBe(chain.leaf + chain.root + key);
    const { data: open } = await keyReader.client.certificates.get({ params: { id }, query: { format: 'pem' } });
    expect([open.private, open.pem]).toEqual(['', chain.leaf + chain.root]);
  });

  it('is refused without the permission, whether the certificate exists or not', async () => {
    for (const asked of [id, 999_999]) {
      await expect(
        reader.client.certificates.get({ params: { id: asked }, query: { include: 'private' } }),
      ).rejects.toMatchObject({ status: 403, data: { code: 'FORBIDDEN', permission: 'certificates.private' } });
    }
    await expect(certificates.get({ params: { id: 999_999 }, query: { include: 'private' } })).rejects.toMatchObject({
      status: 404,
    });
    await expect(certificates.get({ params: { id }, query: { include: 'all' as 'private' } })).rejects.toMatchObject({
      status: 400,
    });
  });

  it('leaves an entry in the audit chain for each reading and each refusal, and none for a plain reading', async () => {
    const before = (await auditOf('certificates.get')).length;
    await certificates.get({ params: { id } });
    await certificates.get({ params: { id }, query: { format: 'pem' } });
    await certificates.get({ params: { id }, query: { include: 'private' } });
    await reader.client.certificates.get({ params: { id }, query: { include: 'private' } }).catch(() => {});
    const { data: me } = await reader.client.users.me();
    expect((await auditOf('certificates.get')).slice(before)).toEqual([
      { userID: 1, outcome: 'ok', targets: { certificates: [id] }, detail: { include: 'private', hasPrivate: true } },
      {
        userID: me.id,
        outcome: 'denied',
        targets: {},
        detail: { permission: 'certificates.private', certificateID: id },
      },
    ]);
    expect((await verifyAudit(controller.store.read, controller.store.secrets)).broken).toBeUndefined();
  });

  it('is in no answer to anyone who does not ask for it', async () => {
    const texts: Record<string, Buffer> = {};
    const ask = async (who: SignedIn, path: string, init?: RequestInit) => {
      const response = await who.send(`${controller.url}/v1/certificates${path}`, init);
      const headers = JSON.stringify([...response.headers]);
      texts[`${init?.method ?? 'GET'} ${path} ${response.status}`] = Buffer.from(headers + (await response.text()));
    };
    for (const path of ['', '/all', `/${id}`, `/${id}?format=pem`, '?hasPrivate=true&search=Kept']) {
      await ask(administrator, path);
      await ask(reader, path);
    }
    await ask(reader, `/${id}?include=private`);
    const change = (body: object) => ({
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id, ...body }),
    });
    await ask(administrator, '', change({ private: key }));
    await ask(administrator, '#mismatch', change({ private: chain.otherKey }));
    await ask(administrator, '#mixed', change({ private: key, public: 'hello' }));
    expect(Object.keys(texts)).toHaveLength(9);
    expect(spilledIn(key, texts)).toEqual([]);
    expect(spilledIn(chain.otherKey, texts)).toEqual([]);
    const { data } = await certificates.list();
    for (const one of [...data, ...(await certificates.all()).data]) {
      expect([one.private, one.hasPrivate]).toEqual(['', true]);
    }
  });

  it('is nowhere in the database in clear, not even after updates', async () => {
    const made = await certificates.create({ body: { name: 'Made', generate: { kind: 'csr', subject: 'CN=a.test' } } });
    const { data: request } = await certificates.get({ params: { id: made.data }, query: { include: 'private' } });
    await certificates.update({ body: { id, private: key, name: 'Kept longer' } });
    await certificates.create(
      { body: { name: 'Again', public: chain.leaf, private: chain.key } },
      { headers: { 'idempotency-key': 'again' } },
    );
    const rows: Record<string, Buffer> = {};
    for (const table of Object.keys(tables)) rows[table] = Buffer.from(JSON.stringify(await rowsOf(table)));
    const haystacks = { ...rows, ...filesIn(controller.config.dataDir) };
    // The same search finds what is meant to be found.
    const line = Buffer.from(chain.leaf.split('\n')[2] ?? '');
    expect(Object.keys(haystacks).filter((name) => haystacks[name]?.includes(line))).toContain('certificateContents');
    expect(spilledIn(key, { control: Buffer.from(chain.key) })).toEqual(['control']);
    for (const secret of [key, chain.key, request.private]) expect(spilledIn(secret, haystacks)).toEqual([]);
    const sealed = (await rowsOf('certificateContents')).map((row) => String(row['private']));
    expect(sealed.every((text) => /^v1\.[\w-]+\.[\w-]+$/.test(text))).toBe(true);
  });

  it('cannot be moved to another certificate by who can write to the database', async () => {
    const { data: other } = await certificates.create({ body: { name: 'Other', public: chain.leaf } });
    const [kept] = (await rowsOf('certificateContents')).filter((row) => row['id'] === id);
    await controller.store.database.transaction((tx) =>
      tx.run(
        {
          name: 'move_key',
          sql: `update "certificateContents" set "private" = '${kept?.['private']}' where id = ${other}`,
        },
        [],
      ),
    );
    await expect(certificates.get({ params: { id: other }, query: { include: 'private' } })).rejects.toMatchObject({
      status: 500,
      data: { code: 'INTERNAL' },
    });
    expect((await certificates.get({ params: { id: other } })).data.private).toBe('');
  });
});
