import { certificateDefects, type DefectName } from '@rushhour/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { certificatesIn, makeWithOpenssl, openssl, publicKeyIn, useFolder } from './testing/openssl.ts';

const folder = useFolder();
let controller: TestController;
let certificates: SignedIn['client']['certificates'];
beforeAll(async () => {
  controller = await startTestController();
  certificates = (await controller.signIn()).client.certificates;
});
afterAll(() => controller.close());

type Request = NonNullable<Parameters<typeof certificates.create>[0]['body']['generate']>;
let count = 0;
const generate = async (request: Request) => {
  count += 1;
  return (await certificates.create({ body: { name: `Generated ${count}`, generate: request } })).data;
};
const get = async (id: number) => (await certificates.get({ params: { id }, query: { include: 'private' } })).data;
const issues = (...expected: [path: string, code: string][]) => ({
  status: 400,
  data: { issues: expected.map(([path, code]) => expect.objectContaining({ path, code })) },
});

/** What openssl says of the certificate for the host, trusting the root alone and helped by the chain. */
const verdictOn = async (text: string, root: string, host = 'www.example.test') => {
  const [leaf = '', ...chain] = certificatesIn(text);
  const trusted = await folder.write('root.pem', root);
  const files = [await folder.write('chain.pem', chain.join('') || leaf), await folder.write('leaf.pem', leaf)];
  const options = ['-x509_strict', '-purpose', 'sslserver', '-verify_hostname', host];
  return (await openssl('verify', ...options, '-CAfile', trusted, '-untrusted', ...files)).text;
};

describe('a generated certificate', () => {
  it.each(['rsa2048', 'ecdsa-p256', 'ecdsa-p384', 'ed25519'] as const)(
    'of a leaf with a key %s verifies against its authority, and its key is its own',
    async (keyType) => {
      const ca = await get(await generate({ kind: 'ca', subject: 'CN=Root', keyType }));
      const middle = await get(await generate({ kind: 'ca', subject: 'CN=Middle', issuerCertificateID: ca.id }));
      const leaf = await get(
        await generate({ kind: 'leaf', subject: 'CN=www.example.test', keyType, issuerCertificateID: middle.id }),
      );
      expect(await verdictOn(leaf.public, ca.public)).toMatch(/: OK\n$/);
      expect(await verdictOn(leaf.public, ca.public, 'other.test')).toContain('hostname mismatch');
      expect(await publicKeyIn(folder, leaf.private)).toBe(await publicKeyIn(folder, leaf.public));
      expect(leaf).toMatchObject({
        issuerCertificateID: middle.id,
        details: { keyType, chainComplete: true, chain: [{ subject: 'CN=Middle' }, { subject: 'CN=Root' }] },
      });
      expect([ca.issuerCertificateID, middle.issuerCertificateID]).toEqual([null, ca.id]);
    },
  );

  it('signs itself where that is asked for, whatever issuer is named', async () => {
    const ca = await generate({ kind: 'ca', subject: 'CN=Root' });
    const { public: text, issuerCertificateID } = await get(
      await generate({ kind: 'self-signed', subject: { CN: 'www.example.test' }, issuerCertificateID: ca }),
    );
    expect(issuerCertificateID).toBeNull();
    expect(await verdictOn(text, text)).toMatch(/: OK\n$/);
  });

  it('may be a request, which openssl accepts', async () => {
    const request = await get(await generate({ kind: 'csr', subject: 'CN=www.example.test', san: ['a.test'] }));
    expect(request).toMatchObject({ hasPrivate: true, details: { kind: 'csr', san: ['DNS:a.test'], keyMatch: true } });
    const file = await folder.write('request.pem', request.public);
    expect((await openssl('req', '-in', file, '-noout', '-verify')).text).toContain('verify OK');
    const shown = (await makeWithOpenssl('req', '-in', file, '-noout', '-text')).toString();
    expect(shown).toContain('DNS:a.test');
    expect(await publicKeyIn(folder, request.private)).toBe(await publicKeyIn(folder, request.public));
  });

  it('has the validity that is asked for', async () => {
    const notBefore = '2031-02-03T04:05:06.000Z';
    const { details } = await get(await generate({ kind: 'ca', subject: 'CN=Later', notBefore, validDays: 2 }));
    expect(details).toMatchObject({ notBefore, notAfter: '2031-02-05T04:05:06.000Z' });
  });
});

describe('a defective certificate', () => {
  let ca: Awaited<ReturnType<typeof get>>;
  beforeAll(async () => {
    ca = await get(await generate({ kind: 'ca', subject: 'CN=Root', keyType: 'rsa2048' }));
  });

  it.each(Object.keys(certificateDefects) as DefectName[])('%s is made under a stored authority', async (defect) => {
    const request: Request = { kind: 'leaf', subject: 'CN=www.example.test', issuerCertificateID: ca.id, defect };
    const record = await get(await generate(request));
    expect(await publicKeyIn(folder, record.private)).toBe(await publicKeyIn(folder, record.public));
    expect(record.issuerCertificateID).toBe(defect === 'selfSigned' ? null : ca.id);
    // Openssl itself has nothing against these at its default level.
    const isTolerated = ['hugeSan', 'noSan', 'weakKey', 'sha1Signature', 'revoked', 'longChain'].includes(defect);
    const verdict = await verdictOn(record.public, ca.public);
    if (isTolerated) expect(verdict).toMatch(/: OK\n$/);
    else expect(verdict).toMatch(/error|unable/i);
  });

  it('expired or not yet valid needs no authority, and says so', async () => {
    const daysOf = async (defect: DefectName) =>
      (await get(await generate({ kind: 'leaf', subject: 'CN=a.test', defect }))).details?.expiresInDays;
    expect(await daysOf('expired')).toBe(-2);
    expect(await daysOf('notYetValid')).toBe(30 + 397 - 1);
  });

  it('tells its defect in its details', async () => {
    const made = async (request: Partial<Request>) =>
      (await get(await generate({ kind: 'leaf', subject: 'CN=a.test', ...request }))).details;
    expect(await made({ defect: 'revoked' })).toMatchObject({ revoked: true });
    expect(await made({ defect: 'weakKey' })).toMatchObject({ keyType: 'rsa1024' });
    expect(await made({ defect: 'hugeSan', defectSize: 150 })).toMatchObject({ sanCount: 151 });
    expect((await made({ defect: 'longChain', defectSize: 12 }))?.chain).toHaveLength(13);
    expect(await made({ defect: 'missingIntermediate' })).toMatchObject({ chainComplete: false });
  });
});

describe('what cannot be generated', () => {
  it('is refused with every problem at its place, and nothing is stored', async () => {
    const before = (await certificates.list()).cursor.totalRows;
    await expect(
      generate({
        kind: 'self-signed',
        subject: 'www.example.test',
        san: ['fine.test', 'not fine', 'IP:300.1.1.1'],
        validDays: -1,
        notBefore: '1820-01-01T00:00:00Z',
        defect: 'longChain',
        defectSize: 51,
      }),
    ).rejects.toMatchObject(
      issues(
        ['/generate/subject', 'BAD_SUBJECT'],
        ['/generate/san/1', 'BAD_SAN'],
        ['/generate/san/2', 'BAD_SAN'],
        ['/generate/notBefore', 'BAD_VALIDITY'],
        ['/generate/validDays', 'BAD_VALIDITY'],
        ['/generate/defectSize', 'BAD_DEFECT'],
      ),
    );
    await expect(generate({ kind: 'car' as 'ca', keyType: 'dsa' as 'ed25519', defect: 'no' as 'noSan' }))
      .rejects //
      .toMatchObject({
        status: 400,
        data: { issues: expect.arrayContaining([expect.objectContaining({ path: '/generate/kind', code: 'ENUM' })]) },
      });
    await expect(generate({ kind: 'self-signed' })).rejects.toMatchObject(issues(['/generate/subject', 'BAD_SUBJECT']));
    await expect(generate({ kind: 'csr', subject: 'CN=a', defect: 'expired' })).rejects.toMatchObject(
      issues(['/generate/defect', 'BAD_DEFECT']),
    );
    expect((await certificates.list()).cursor.totalRows).toBe(before);
  });

  it('is a leaf without an issuer that can sign', async () => {
    const path = '/generate/issuerCertificateID';
    const leaf = (issuerCertificateID: number | null) =>
      generate({ kind: 'leaf', subject: 'CN=a.test', issuerCertificateID });
    const ca = await get(await generate({ kind: 'ca', subject: 'CN=Root' }));
    const { data: keyless } = await certificates.create({ body: { name: 'Keyless', public: ca.public } });
    const host = await generate({ kind: 'self-signed', subject: 'CN=host.test' });
    await expect(leaf(null)).rejects.toMatchObject(issues([path, 'ISSUER_REQUIRED']));
    await expect(leaf(0)).rejects.toMatchObject(issues([path, 'ISSUER_REQUIRED']));
    await expect(leaf(999_999)).rejects.toMatchObject(issues([path, 'ISSUER_NOT_FOUND']));
    await expect(leaf(keyless)).rejects.toMatchObject(issues([path, 'ISSUER_HAS_NO_KEY']));
    await expect(leaf(host)).rejects.toMatchObject(issues([path, 'ISSUER_NOT_CA']));
  });
});
