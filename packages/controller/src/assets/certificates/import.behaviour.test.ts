import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { certificatesIn, makeWithOpenssl, openssl, publicKeyIn, useFolder } from './testing/openssl.ts';
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
let count = 0;
const named = (body: Omit<NewBody, 'name'>): NewBody => {
  count += 1;
  return { name: `Import ${count}`, ...body };
};
const create = async (body: Omit<NewBody, 'name'>) => (await certificates.create({ body: named(body) })).data;
const opened = async (id: number) =>
  (await certificates.get({ params: { id }, query: { include: 'private', format: 'pem' } })).data;
const total = async () => (await certificates.list()).cursor.totalRows;

/** Openssl itself reads what we hand out: the leaf verifies and the key is the leaf's. */
const expectWhole = async (id: number) => {
  const { public: text, private: key, pem } = await opened(id);
  const [leaf = '', root = ''] = certificatesIn(text);
  expect([leaf, root]).toEqual([chain.leaf, chain.root]);
  const files = [await folder.write('out-root.pem', root), await folder.write('out-leaf.pem', leaf)];
  expect((await openssl('verify', '-CAfile', ...files)).text).toMatch(/: OK\n$/);
  expect(await publicKeyIn(folder, key)).toBe(await publicKeyIn(folder, leaf));
  expect(pem).toBe(text + key);
};

describe('an import', () => {
  it('takes a chain in any order with comments, and a key', async () => {
    const id = await create({ public: `root\n${chain.root}\nleaf\n${chain.leaf}`, private: chain.key });
    await expectWhole(id);
    expect((await opened(id)).details).toMatchObject({
      subject: 'O=Example,CN=leaf.test',
      issuer: 'CN=Root',
      san: ['DNS:leaf.test', 'IP:192.0.2.1'],
      chain: [expect.objectContaining({ subject: 'CN=Root', isCa: true, selfSigned: true })],
      chainComplete: true,
      keyMatch: true,
      expiresInDays: 29,
    });
  });

  it('takes a key among the certificates, and an encrypted one with its passphrase', async () => {
    await expectWhole(await create({ public: chain.key + chain.root + chain.leaf }));
    const encrypted = await chain.encryptKey('open sesame');
    await expectWhole(await create({ public: chain.leaf + chain.root, private: encrypted, passphrase: 'open sesame' }));
  });

  it('takes a PKCS#12 file in base64, with or without line ends', async () => {
    const file = await chain.exportPkcs12('open sesame');
    await expectWhole(await create({ pkcs12: file, passphrase: 'open sesame' }));
    await expectWhole(await create({ pkcs12: file.replace(/.{76}/g, '$&\n'), passphrase: 'open sesame' }));
    await expectWhole(await create({ pkcs12: await chain.exportPkcs12('') }));
  });

  it('takes a certificate without a key, and a certificate request', async () => {
    const bare = await opened(await create({ public: chain.leaf, private: '********' }));
    expect(bare).toMatchObject({ hasPrivate: false, private: '', pem: chain.leaf, details: { keyMatch: null } });
    const request = await makeWithOpenssl('req', '-new', '-key', folder.path('leaf.key'), '-subj', '/CN=r.test');
    const id = await create({ public: request.toString(), private: chain.key });
    expect(await opened(id)).toMatchObject({
      public: request.toString(),
      hasPrivate: true,
      details: { kind: 'csr', subject: 'CN=r.test', notAfter: null, expiresInDays: null, keyMatch: true },
    });
  });

  it('takes a record as it was read, under another name', async () => {
    const read = await opened(await create({ public: chain.leaf + chain.root, private: chain.key }));
    const { data: id } = await certificates.create({ body: { ...read, name: 'Copy' } });
    await expectWhole(id);
  });
});

describe('a bad import', () => {
  const cases: [string, () => Omit<NewBody, 'name'> | Promise<Omit<NewBody, 'name'>>, string, string][] = [
    ['text that is no PEM', () => ({ public: 'hello' }), '/public', 'BAD_PEM'],
    ['a cut PEM block', () => ({ public: chain.leaf.slice(0, 300) }), '/public', 'BAD_PEM'],
    ['a damaged certificate', () => ({ public: chain.leaf.replace(/MII./, 'AAAA') }), '/public', 'BAD_PEM'],
    ['a key and no certificate', () => ({ public: chain.key }), '/public', 'BAD_PEM'],
    ['a certificate as key', () => ({ public: chain.leaf, private: chain.leaf }), '/private', 'BAD_PEM'],
    ['the key of another', () => ({ public: chain.leaf, private: chain.otherKey }), '/private', 'KEY_MISMATCH'],
    [
      'an encrypted key without passphrase',
      async () => ({ public: chain.leaf, private: await chain.encryptKey('open sesame') }),
      '/passphrase',
      'BAD_PASSPHRASE',
    ],
    [
      'an encrypted key with another passphrase',
      async () => ({ public: chain.leaf, private: await chain.encryptKey('open sesame'), passphrase: 'open' }),
      '/passphrase',
      'BAD_PASSPHRASE',
    ],
    [
      'a PKCS#12 file with another passphrase',
      async () => ({ pkcs12: await chain.exportPkcs12('open sesame'), passphrase: 'open' }),
      '/passphrase',
      'BAD_PASSPHRASE',
    ],
    ['a PKCS#12 file that is none', () => ({ pkcs12: 'AAAA', passphrase: '' }), '/pkcs12', 'BAD_PKCS12'],
    ['a PKCS#12 file not in base64', () => ({ pkcs12: 'né?', passphrase: '' }), '/pkcs12', 'BAD_PKCS12'],
    ['nothing to import', () => ({}), '/public', 'REQUIRED'],
    ['empty texts', () => ({ public: '', private: '' }), '/public', 'REQUIRED'],
    [
      'a key of its own beside a PKCS#12 file',
      async () => ({ pkcs12: await chain.exportPkcs12(''), private: chain.key }),
      '/private',
      'ONE_SOURCE',
    ],
  ];

  it.each(cases)('%s is a 400 that names the member, and nothing is stored', async (_, body, path, code) => {
    const before = await total();
    const attempt = certificates.create({ body: named(await body()) });
    await expect(attempt).rejects.toMatchObject({
      status: 400,
      data: { issues: [{ path, code, message: expect.any(String) }] },
    });
    expect(await total()).toBe(before);
  });

  it('carries the code of the problem, and all problems together', async () => {
    await expect(create({ public: 'hello', private: 'hello' })).rejects.toMatchObject({
      status: 400,
      data: {
        code: 'BAD_PEM',
        issues: [
          { path: '/public', code: 'BAD_PEM' },
          { path: '/private', code: 'BAD_PEM' },
        ],
      },
    });
    await expect(create({ public: chain.leaf, pkcs12: 'AAAA', generate: { kind: 'ca' } })).rejects.toMatchObject({
      status: 400,
      data: {
        issues: [
          { path: '/pkcs12', code: 'ONE_SOURCE' },
          { path: '/generate', code: 'ONE_SOURCE' },
        ],
      },
    });
  });

  it('never repeats a passphrase or a key in its answer', async () => {
    const encrypted = await chain.encryptKey('open sesame');
    const attempt = create({ public: chain.leaf, private: encrypted, passphrase: 'wrong-horse-battery' });
    const answer = JSON.stringify(await attempt.catch((error: unknown) => error));
    expect(answer).toContain('BAD_PASSPHRASE');
    expect(answer).not.toContain('horse');
    expect(answer).not.toContain(encrypted.split('\n')[1]);
  });
});
