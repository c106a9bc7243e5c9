import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';
import { makeWithOpenssl, publicKeyIn, useFolder } from './testing/openssl.ts';
import { makeOpensslChain, type OpensslChain } from './testing/openssl-chain.ts';

const folder = useFolder();
let chain: OpensslChain;
let controller: TestController;
let certificates: SignedIn['client']['certificates'];
beforeAll(async () => {
  chain = await makeOpensslChain(folder);
  controller = await startTestController();
  certificates = (await controller.signIn()).client.certificates;
});
afterAll(() => controller.close());

type NewBody = Parameters<typeof certificates.create>[0]['body'];
type Patch = Omit<Parameters<typeof certificates.update>[0]['body'], 'id'>;
let count = 0;
const create = async (body: Omit<NewBody, 'name'>) => {
  count += 1;
  return (await certificates.create({ body: { name: `Updated ${count}`, ...body } })).data;
};
const update = (id: number, patch: Patch) => certificates.update({ body: { id, ...patch } });
const opened = async (id: number) => (await certificates.get({ params: { id }, query: { include: 'private' } })).data;
const issue = (path: string, code: string) => ({ status: 400, data: { code, issues: [{ path, code }] } });
const renewed = async () =>
  (
    await makeWithOpenssl('req', '-x509', '-key', folder.path('leaf.key'), '-days', '90', '-subj', '/CN=renewed.test')
  ).toString();

describe('an update of a certificate', () => {
  it('takes a renewed certificate for the stored key, and its facts with it', async () => {
    const id = await create({ public: chain.leaf + chain.root, private: chain.key });
    const before = await opened(id);
    await update(id, { public: `renewed\n${await renewed()}`, updatedAt: before.updatedAt });
    const after = await opened(id);
    expect(after).toMatchObject({
      private: before.private,
      hasPrivate: true,
      details: { subject: 'CN=renewed.test', keyMatch: true, expiresInDays: 89, chain: [] },
    });
    expect((await certificates.list({ query: { search: 'renewed.test' } })).data.map((one) => one.id)).toEqual([id]);
    const soon = new Date(Date.now() + 60 * 86_400_000).toISOString();
    const expiring = await certificates.list({ query: { expiresBefore: soon, search: before.name } });
    expect(expiring.data).toEqual([]);
  });

  it('refuses a certificate of another key, and changes nothing', async () => {
    const id = await create({ public: chain.leaf, private: chain.key });
    const before = await opened(id);
    await expect(update(id, { public: chain.root, name: 'Never' })).rejects.toMatchObject(
      issue('/public', 'KEY_MISMATCH'),
    );
    await expect(update(id, { private: chain.otherKey })).rejects.toMatchObject(issue('/private', 'KEY_MISMATCH'));
    await expect(update(id, { public: 'hello', private: 'hello' })).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path: '/public', code: 'BAD_PEM' }, { path: '/private' }] },
    });
    await expect(update(id, { public: null as never })).rejects.toMatchObject({ status: 400 });
    expect(await opened(id)).toEqual(before);
  });

  it.each([{}, { private: '' }, { private: '********' }])('keeps the stored key with %j', async (kept) => {
    const id = await create({ public: chain.leaf, private: chain.key });
    const before = await opened(id);
    await update(id, { name: `Kept ${JSON.stringify(kept)}`, ...kept });
    await update(id, { public: await renewed(), ...kept });
    expect(await opened(id)).toMatchObject({ private: before.private, hasPrivate: true });
  });

  it('takes another certificate together with its key, even in one text', async () => {
    const id = await create({ public: chain.leaf, private: chain.key });
    await update(id, { public: chain.root, private: chain.otherKey });
    expect((await opened(id)).details).toMatchObject({ subject: 'CN=Root', keyMatch: true });
    await update(id, { public: chain.leaf + chain.key, private: '' });
    const { private: key, details } = await opened(id);
    expect(details).toMatchObject({ san: ['DNS:leaf.test', 'IP:192.0.2.1'], keyMatch: true });
    expect(await publicKeyIn(folder, key)).toBe(await publicKeyIn(folder, chain.leaf));
  });

  it('adds a key to a certificate without one, encrypted or not, and removes it with null', async () => {
    const id = await create({ public: chain.leaf });
    const encrypted = await chain.encryptKey('open sesame');
    await expect(update(id, { private: encrypted, passphrase: 'close' })).rejects.toMatchObject(
      issue('/passphrase', 'BAD_PASSPHRASE'),
    );
    await update(id, { private: encrypted, passphrase: 'open sesame' });
    expect(await opened(id)).toMatchObject({ hasPrivate: true, details: { keyMatch: true } });
    await update(id, { private: null });
    expect(await opened(id)).toMatchObject({ hasPrivate: false, private: '', details: { keyMatch: null } });
    // Without a key any certificate fits.
    await update(id, { public: chain.root });
    expect((await opened(id)).details).toMatchObject({ subject: 'CN=Root', isCa: true });
  });

  it('puts the issued certificate in the place of the request, if it is for the same key', async () => {
    const id = await create({ generate: { kind: 'csr', subject: 'CN=asked.test' } });
    const request = await opened(id);
    // Sent back as it was read, a request stays what it is.
    await certificates.update({ body: { ...request, name: 'Asked' } });
    expect((await opened(id)).public).toBe(request.public);
    await expect(update(id, { public: chain.leaf })).rejects.toMatchObject(issue('/public', 'KEY_MISMATCH'));
    await expect(update(id, { private: chain.key })).rejects.toMatchObject(issue('/private', 'KEY_MISMATCH'));
    await update(id, { public: (await chain.signRequest(request.public)) + chain.root });
    const issued = await opened(id);
    expect(issued).toMatchObject({
      private: request.private,
      details: { kind: 'certificate', subject: 'CN=asked.test', san: ['DNS:asked.test'], chainComplete: true },
    });
    expect(await publicKeyIn(folder, issued.public)).toBe(await publicKeyIn(folder, issued.private));
  });

  it('keeps the link to the authority as long as the authority signed it', async () => {
    const ca = await create({ generate: { kind: 'ca', subject: 'CN=Parent' } });
    const leaf = await create({ generate: { kind: 'leaf', subject: 'CN=a.test', issuerCertificateID: ca } });
    const { public: text } = await opened(leaf);
    await update(leaf, { public: text.slice(0, text.indexOf('-----END') + 26) });
    expect(await opened(leaf)).toMatchObject({ issuerCertificateID: ca, details: { chain: [] } });
    await update(leaf, { public: chain.leaf, private: chain.key });
    expect((await opened(leaf)).issuerCertificateID).toBeNull();
    expect(await certificates.removeMany({ body: { array: [ca] } })).toEqual({ data: [ca] });
  });

  it('that takes long is refused when the certificate was changed meanwhile', async () => {
    const id = await create({ public: chain.leaf });
    const encrypted = await chain.encryptKey('open sesame', ['-iter', '500000']);
    let isOver = false;
    const slow = update(id, { private: encrypted, passphrase: 'open sesame' }).finally(() => {
      isOver = true;
    });
    const refusal = expect(slow).rejects.toEqual(refused(409, 'STALE_OBJECT'));
    for (let n = 1; !isOver; n += 1) await update(id, { name: `Meanwhile ${n}` });
    await refusal;
    expect(await opened(id)).toMatchObject({ name: expect.stringContaining('Meanwhile'), hasPrivate: false });
  });

  it('from an older version is refused', async () => {
    const id = await create({ public: chain.leaf });
    const { updatedAt } = await opened(id);
    await update(id, { name: 'Newer' });
    await expect(update(id, { public: chain.root, updatedAt })).rejects.toEqual(refused(409, 'STALE_OBJECT'));
  });
});
