import { permissions } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';
import { storeTask } from '../networks/testing/task.ts';

let controller: TestController;
let administrator: SignedIn;
let certificates: SignedIn['client']['certificates'];
beforeAll(async () => {
  controller = await startTestController();
  administrator = await controller.signIn();
  certificates = administrator.client.certificates;
});
afterAll(() => controller.close());

type NewBody = Parameters<typeof certificates.create>[0]['body'];
type Request = NonNullable<NewBody['generate']>;
const generate = async (name: string, request: Request) =>
  (await certificates.create({ body: { name, generate: request } })).data;
const get = async (id: number) => (await certificates.get({ params: { id } })).data;
const dayMs = 86_400_000;

describe('certificates', () => {
  it('are created, read back whole, changed and deleted', async () => {
    const id = await generate('Web', {
      kind: 'self-signed',
      subject: 'CN=www.example.test,O=Example',
      san: ['www.example.test', '192.0.2.7'],
      validDays: 10,
    });
    const { data: certificate, cursor } = await certificates.get({ params: { id } });
    expect(cursor).toEqual({ count: 1, currentPage: 1, totalPages: 1, totalRows: 1 });
    expect(certificate).toEqual({
      id,
      name: 'Web',
      public: expect.stringMatching(/^-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n$/),
      private: '',
      hasPrivate: true,
      issuerCertificateID: null,
      details: expect.objectContaining({
        kind: 'certificate',
        subject: 'CN=www.example.test,O=Example',
        issuer: 'CN=www.example.test,O=Example',
        san: ['DNS:www.example.test', 'IP:192.0.2.7'],
        sanCount: 2,
        keyType: 'ecdsa-p256',
        keySize: 256,
        isCa: false,
        selfSigned: true,
        keyMatch: true,
        revoked: false,
        expiresInDays: 9,
        chain: [],
        chainComplete: true,
      }),
      issuerID: 1,
      issuer: { id: 1, email: 'admin@example.test', realName: 'Administrator' },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await certificates.update({ body: { ...certificate, name: 'Shop' } })).toBeUndefined();
    const changed = await get(id);
    expect(changed).toEqual({ ...certificate, name: 'Shop', updatedAt: expect.any(String) });
    expect(changed.updatedAt > certificate.updatedAt).toBe(true);
    await expect(certificates.update({ body: { ...certificate, name: 'Late' } })).rejects.toEqual(
      refused(409, 'STALE_OBJECT'),
    );
    await expect(certificates.update({ body: { id: 999_999, name: 'Nobody' } })).rejects.toEqual(
      refused(404, 'NOT_FOUND'),
    );
    expect(await certificates.removeMany({ body: { array: [id] } })).toEqual({ data: [id] });
    await expect(certificates.get({ params: { id } })).rejects.toEqual(refused(404, 'NOT_FOUND'));
  });

  it('have unique names, and members that no schema knows are refused', async () => {
    await generate('Unique', { kind: 'ca', subject: 'CN=Unique' });
    await expect(generate('Unique', { kind: 'ca', subject: 'CN=Unique' })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/name', code: 'DUPLICATE' }] },
    });
    await expect(
      certificates.create({ body: { name: 'X', colour: 'red', generate: { kind: 'ca', size: 3 } } as never }),
    ).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          expect.objectContaining({ path: '/colour', code: 'UNKNOWN_MEMBER' }),
          expect.objectContaining({ path: '/generate/size', code: 'UNKNOWN_MEMBER' }),
        ],
      },
    });
  });

  it('are made once when the same request comes twice', async () => {
    const body: NewBody = { name: 'Once', generate: { kind: 'self-signed', subject: 'CN=once.test' } };
    const first = await certificates.create({ body }, { headers: { 'idempotency-key': 'one' } });
    expect(await certificates.create({ body }, { headers: { 'idempotency-key': 'one' } })).toEqual(first);
  });
});

describe('lists of certificates', () => {
  const ids: Record<string, number> = {};
  beforeAll(async () => {
    ids['ca'] = await generate('Listed ca', { kind: 'ca', subject: 'CN=Listed root', keyType: 'rsa2048' });
    ids['soon'] = await generate('Listed soon', { kind: 'self-signed', subject: 'CN=soon.listed.test', validDays: 5 });
    ids['late'] = await generate('Listed late', { kind: 'self-signed', subject: 'CN=late.listed.test', validDays: 50 });
    ids['gone'] = await generate('Listed gone', { kind: 'self-signed', subject: 'CN=g.test', defect: 'expired' });
    ids['csr'] = await generate('Listed csr', { kind: 'csr', subject: 'CN=csr.listed.test', keyType: 'ed25519' });
    const { public: text } = await get(ids['late']);
    const { data } = await certificates.create({ body: { name: 'Listed bare', public: text } });
    ids['bare'] = data;
  });
  type Query = NonNullable<NonNullable<Parameters<typeof certificates.list>[0]>['query']>;
  const found = async (query: Query) => {
    const { data } = await certificates.list({ query: { search: 'Listed', order: 'asc', ...query } });
    return data.map(({ id }) => Object.keys(ids).find((name) => ids[name] === id));
  };
  const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString();

  it('are filtered by expiry, key, kind and authority', async () => {
    expect(await found({})).toEqual(['ca', 'soon', 'late', 'gone', 'csr', 'bare']);
    expect(await found({ expiresBefore: inDays(10) })).toEqual(['soon', 'gone']);
    expect(await found({ expiresBefore: inDays(0) })).toEqual(['gone']);
    expect(await found({ expiresBefore: inDays(10).replace(/\.\d+Z$/, '+00:00') })).toEqual(['soon', 'gone']);
    expect(await found({ hasPrivate: false })).toEqual(['bare']);
    expect(await found({ hasPrivate: true, expiresBefore: inDays(100) })).toEqual(['soon', 'late', 'gone']);
    expect(await found({ ca: true })).toEqual(['ca']);
    expect(await found({ ca: false, keyType: 'ecdsa-p256' })).toEqual(['soon', 'late', 'gone', 'bare']);
    expect(await found({ keyType: 'ed25519' })).toEqual(['csr']);
    expect(await found({ keyType: 'rsa2048' })).toEqual(['ca']);
  });

  it('refuse a moment that is none', async () => {
    for (const expiresBefore of ['soon', '2026-02-30T25:00:00Z', '2026-06-30T23:59:60Z']) {
      await expect(certificates.list({ query: { expiresBefore } })).rejects.toMatchObject({
        status: 400,
        data: { issues: [{ path: '/expiresBefore', in: 'query', code: 'FORMAT' }] },
      });
    }
  });

  it('are searched by name, subject, alternative name and fingerprint', async () => {
    const late = await get(ids['late'] as number);
    expect(await found({ search: 'LATE.listed' })).toEqual(['late', 'bare']);
    expect(await found({ search: 'dns:soon' })).toEqual(['soon']);
    expect(await found({ search: late.details?.fingerprints.sha256 ?? '' })).toEqual(['late', 'bare']);
    expect(await found({ search: 'listed%' })).toEqual([]);
  });

  it('are sorted by a fixed set of keys, the same on every engine', async () => {
    expect(await found({ key: 'name' })).toEqual(['bare', 'ca', 'csr', 'gone', 'late', 'soon']);
    expect(await found({ key: 'notAfter' })).toEqual(['csr', 'gone', 'soon', 'late', 'bare', 'ca']);
    expect(await found({ key: 'notAfter', order: 'desc', count: 2 })).toEqual(['ca', 'bare']);
    expect(await found({ key: 'createdAt', order: 'desc', count: 2, page: 2 })).toEqual(['gone', 'late']);
    await expect(certificates.list({ query: { key: 'keyType' as 'id' } })).rejects.toMatchObject({ status: 400 });
  });

  it('carry details with the days left, and leave long texts to the record itself', async () => {
    const { data } = await certificates.list({ query: { search: 'Listed soon' } });
    expect(data[0]).toEqual(await get(ids['soon'] as number));
    expect(data[0]?.details?.expiresInDays).toBe(4);
    const id = await generate('Huge', { kind: 'self-signed', subject: 'CN=huge.test', defect: 'hugeSan' });
    const { public: text, details, updatedAt } = await get(id);
    expect([text.length > 100_000, details?.sanCount, details?.san.length]).toEqual([true, 5001, 100]);
    const [listed] = (await certificates.list({ query: { search: 'Huge' } })).data;
    expect([listed?.public, listed?.details?.sanCount]).toEqual(['', 5001]);
    // What a list showed may be sent back without loss.
    await certificates.update({ body: { ...listed, updatedAt, name: 'Huge 2' } as never });
    expect(await get(id)).toMatchObject({ name: 'Huge 2', public: text, hasPrivate: true });
    await certificates.update({ body: { id, public: text, name: 'Huge 3' } });
  });

  it('all of them come light, with the true total', async () => {
    const { data, cursor } = await certificates.all();
    expect(cursor).toEqual({ count: data.length, currentPage: 1, totalPages: 1, totalRows: data.length });
    const { details: _, ...late } = await get(ids['late'] as number);
    expect(data.find(({ id }) => id === ids['late'])).toEqual(late);
    expect(data.map(({ id }) => id)).toEqual(data.map(({ id }) => id).sort((a, b) => a - b));
    await administrator.client.settings.update({ body: { limits: { allListMax: 100 } } });
    for (let n = data.length; n < 101; n += 1) {
      await certificates.create({ body: { name: `Filler ${n}`, public: late.public } });
    }
    const cut = await certificates.all();
    expect([cut.data.length, cut.cursor.totalRows]).toEqual([100, 101]);
  });
});

describe('the deletion of certificates', () => {
  it('is refused while a task, a tunnel or a child uses them, and says who', async () => {
    const ca = await generate('Guarded ca', { kind: 'ca', subject: 'CN=Guarded' });
    const request: Request = { kind: 'leaf', subject: 'CN=a.test', issuerCertificateID: ca };
    const leaf = await generate('Guarded leaf', request);
    const { data: tunnel } = await administrator.client.tunnels.create({
      body: { name: 'Guarded tunnel', type: 'ipsec', endpoints: '10.0.0.1 > 10.0.0.2', certificateID: leaf },
    });
    const task = await storeTask(controller, 'Load', [{ kind: 'certificate', id: leaf }]);
    expect((await get(leaf)).issuerCertificateID).toBe(ca);
    await certificates.update({ body: { id: leaf, name: 'Guarded child' } });
    const remove = (...array: number[]) => certificates.removeMany({ body: { array } });
    await expect(remove(ca)).rejects.toMatchObject({
      status: 409,
      data: { code: 'IN_USE', references: [{ kind: 'certificate', id: leaf, name: 'Guarded child' }] },
    });
    await expect(remove(ca, leaf)).rejects.toMatchObject({
      status: 409,
      data: {
        code: 'IN_USE',
        references: [
          { kind: 'task', id: task.id, name: 'Load' },
          { kind: 'tunnel', id: tunnel, name: 'Guarded tunnel' },
        ],
      },
    });
    expect((await get(ca)).name).toBe('Guarded ca');
    const sibling = await generate('Guarded sibling', request);
    expect(await remove(sibling)).toEqual({ data: [sibling] });
  });

  it('takes an authority and its children together, all or none', async () => {
    const ca = await generate('Family ca', { kind: 'ca', subject: 'CN=Family' });
    const middle = await generate('Family middle', { kind: 'ca', subject: 'CN=Middle', issuerCertificateID: ca });
    const leaf = await generate('Family leaf', { kind: 'leaf', subject: 'CN=a.test', issuerCertificateID: middle });
    await expect(certificates.removeMany({ body: { array: [ca, 999_999] } })).rejects.toMatchObject({ status: 409 });
    await expect(certificates.removeMany({ body: { array: [leaf, 999_999] } })).rejects.toMatchObject({
      status: 404,
      data: { missing: [999_999] },
    });
    expect((await get(leaf)).name).toBe('Family leaf');
    expect(await certificates.removeMany({ body: { array: [ca, middle, leaf] } })).toEqual({
      data: [ca, middle, leaf],
    });
  });
});

it('who may only read certificates can neither make, change nor delete them', async () => {
  const reader = await controller.signInWith(administrator, [permissions['certificates.read']]);
  const id = await generate('Read only', { kind: 'ca', subject: 'CN=Read only' });
  expect((await reader.client.certificates.get({ params: { id } })).data.name).toBe('Read only');
  const outcomes = await Promise.allSettled([
    reader.client.certificates.create({ body: { name: 'X', generate: { kind: 'ca', subject: 'CN=X' } } }),
    reader.client.certificates.update({ body: { id, name: 'X' } }),
    reader.client.certificates.removeMany({ body: { array: [id] } }),
  ]);
  const refusal = { status: 403, data: expect.objectContaining({ permission: 'certificates.write' }) };
  expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: expect.objectContaining(refusal) })));
});
