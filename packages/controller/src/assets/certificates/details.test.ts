import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { cpuMs } from '../../testing/cpu-ms.ts';
import { parseBundle, pemOfBundle } from './bundle.ts';
import { CertificateError } from './certificate-error.ts';
import { detailsOf } from './details.ts';
import { generateCertificate } from './issuing/generate.ts';
import { makeWithOpenssl, useFolder } from './testing/openssl.ts';

const folder = useFolder();
const names =
  'DNS:a.test,DNS:*.b.test,IP:10.1.2.3,IP:2001:db8::1,email:x@a.test,URI:https://a.test/,otherName:1.2.3.4;UTF8:odd';

async function selfSigned(newKey: string[], ...more: string[]): Promise<{ public: string; private: string }> {
  const [keyFile, file] = [folder.path('made.key'), folder.path('made.pem')];
  const subject = ['-subj', '/C=NL/O=Exa, mple/CN=a.test', '-addext', `subjectAltName=${names}`];
  await makeWithOpenssl(
    'req',
    '-x509',
    '-nodes',
    '-days',
    '90',
    ...newKey,
    ...subject,
    '-keyout',
    keyFile,
    '-out',
    file,
    ...more,
  );
  return { public: await readFile(file, 'utf8'), private: await readFile(keyFile, 'utf8') };
}

/** One line of `openssl x509`, after the equals sign. */
async function line(option: string): Promise<string> {
  const text = (
    await makeWithOpenssl('x509', '-in', folder.path('made.pem'), '-noout', option, '-nameopt', 'RFC2253')
  ).toString();
  return text.trim().replace(/^[^=]*=/, '');
}

async function fingerprint(digest: string): Promise<string> {
  const text = await makeWithOpenssl('x509', '-in', folder.path('made.pem'), '-noout', '-fingerprint', `-${digest}`);
  return text
    .toString()
    .trim()
    .replace(/^[^=]*=/, '')
    .replaceAll(':', '')
    .toLowerCase();
}

describe('details of a certificate made by openssl', () => {
  test.each([
    ['rsa3072', 3072, 'sha256WithRSAEncryption', ['-newkey', 'rsa:3072']],
    ['rsa1024', 1024, 'sha1WithRSAEncryption', ['-newkey', 'rsa:1024', '-sha1']],
    ['rsa-pss2048', 2048, 'rsassaPss', ['-newkey', 'rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2048']],
    ['ecdsa-p256', 256, 'ecdsa-with-SHA256', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']],
    ['ecdsa-p521', 521, 'ecdsa-with-SHA512', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-521', '-sha512']],
    ['ed25519', 256, 'ED25519', ['-newkey', 'ed25519']],
    ['ed448', 448, 'ED448', ['-newkey', 'ed448']],
  ])('of type %s agree with openssl', async (keyType, keySize, signatureAlgorithm, newKey) => {
    const pem = await selfSigned(newKey);
    const details = detailsOf(pem);
    expect(details).toMatchObject({
      kind: 'certificate',
      keyType,
      keySize,
      signatureAlgorithm,
      selfSigned: true,
      keyMatch: true,
    });
    expect(details.subject).toBe(await line('-subject'));
    expect(details.issuer).toBe(await line('-issuer'));
    expect(details.serialNumber.toUpperCase()).toBe((await line('-serial')).replace(/^0+/, ''));
    expect(details.fingerprints.sha256).toBe(await fingerprint('sha256'));
    expect(details.fingerprints.sha1).toBe(await fingerprint('sha1'));
    expect(details.notBefore).toBe(new Date(await line('-startdate')).toISOString());
    expect(details.notAfter).toBe(new Date(await line('-enddate')).toISOString());
    expect(details.expiresInDays).toBe(89);
    expect(details.chainComplete).toBe(true);
    expect(pemOfBundle(await parseBundle(pem)).public).toBe(pem.public);
  });

  test('list alternative names of every kind', async () => {
    const details = detailsOf(await selfSigned(['-newkey', 'ed25519']));
    expect(details.san).toEqual([
      'DNS:a.test',
      'DNS:*.b.test',
      'IP:10.1.2.3',
      'IP:2001:db8::1',
      'email:x@a.test',
      'URI:https://a.test/',
      'otherName:1.2.3.4',
    ]);
    expect(details.sanCount).toBe(7);
  });

  test('tell usages and authority', async () => {
    const usage = ['-addext', 'keyUsage=keyCertSign,cRLSign', '-addext', 'extendedKeyUsage=serverAuth,1.2.3.4'];
    const details = detailsOf(await selfSigned(['-newkey', 'ed25519'], ...usage));
    expect(details.isCa).toBe(true);
    expect([...details.keyUsage].sort()).toEqual(['crlSign', 'keyCertSign']);
    expect(details.extendedKeyUsage).toEqual(['serverAuth', '1.2.3.4']);
  });

  test('give the hash of the public key', async () => {
    const { spkiSha256 } = detailsOf(await selfSigned(['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']));
    const publicKey = folder.path('public.der');
    await makeWithOpenssl('pkey', '-in', folder.path('made.key'), '-pubout', '-outform', 'DER', '-out', publicKey);
    expect(spkiSha256).toBe((await makeWithOpenssl('dgst', '-sha256', '-r', publicKey)).toString().slice(0, 64));
  });

  test('count the days at the time of reading', async () => {
    const pem = await selfSigned(['-newkey', 'ed25519']);
    const end = Date.parse(detailsOf(pem).notAfter ?? '');
    const daysAt = (ms: number) => detailsOf(pem, new Date(end + ms)).expiresInDays;
    expect([daysAt(-86_400_000), daysAt(-1), daysAt(1), daysAt(86_400_001)]).toEqual([1, 0, -1, -2]);
  });
});

describe('details', () => {
  test('say whether the key fits', async () => {
    const [one, other] = [await selfSigned(['-newkey', 'ed25519']), await selfSigned(['-newkey', 'ed25519'])];
    expect(detailsOf({ public: one.public, private: '' }).keyMatch).toBeNull();
    expect(detailsOf({ public: one.public, private: other.private }).keyMatch).toBe(false);
  });

  test('summarise the chain', async () => {
    const root = await generateCertificate({ kind: 'ca', subject: 'CN=Root' });
    const middle = await generateCertificate({ kind: 'ca', subject: 'CN=Middle' }, root);
    const leaf = await generateCertificate({ kind: 'leaf', subject: 'CN=leaf.test' }, middle);
    const details = detailsOf(leaf);
    expect(details.chain.map(({ subject, issuer, selfSigned }) => [subject, issuer, selfSigned])).toEqual([
      ['CN=Middle', 'CN=Root', false],
      ['CN=Root', 'CN=Root', true],
    ]);
    expect(details).toMatchObject({ chainComplete: true, isCa: false, selfSigned: false, issuer: 'CN=Middle' });
    expect(JSON.parse(JSON.stringify(details))).toEqual(details);
  });

  test('of a certificate request show what it asks for', async () => {
    const pem = await generateCertificate({
      kind: 'csr',
      subject: 'CN=a.test,O=Example',
      san: ['a.test', '10.0.0.1'],
      keyType: 'rsa2048',
    });
    expect(detailsOf(pem)).toMatchObject({
      kind: 'csr',
      subject: 'CN=a.test,O=Example',
      san: ['DNS:a.test', 'IP:10.0.0.1'],
      keyType: 'rsa2048',
      signatureAlgorithm: 'sha256WithRSAEncryption',
      notAfter: null,
      expiresInDays: null,
      keyMatch: true,
    });
  });

  test('of thousands of names take less than a second and show a hundred', async () => {
    const pem = await generateCertificate({
      kind: 'self-signed',
      subject: 'CN=a.test',
      defect: 'hugeSan',
      defectSize: 10_000,
    });
    const start = cpuMs();
    const details = detailsOf(pem);
    expect(cpuMs() - start).toBeLessThan(1000);
    expect([details.san.length, details.sanCount]).toEqual([100, 10_001]);
  });
});

describe('details of damaged text', () => {
  let pem = { public: '', private: '' };
  beforeAll(async () => {
    pem = await selfSigned(['-newkey', 'ed25519']);
  });

  test('are read or refused, never anything else', () => {
    const der = Buffer.from(pem.public.replace(/-----[^-]+-----|\n/g, ''), 'base64');
    const change = fc.tuple(fc.nat(der.length - 1), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = Buffer.from(der);
        for (const [at, value] of changes) bytes.writeUInt8(value, at);
        const text = `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`;
        try {
          expect(detailsOf({ public: text, private: pem.private }).kind).toBe('certificate');
        } catch (error) {
          expect(error).toBeInstanceOf(CertificateError);
        }
      }),
      { numRuns: 800 },
    );
  });
});
