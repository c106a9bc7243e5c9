import { certificateDefects } from '@rushhour/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CertificatePem } from '../bundle.ts';
import { detailsOf } from '../details.ts';
import { certificatesIn, makeWithOpenssl, openssl, useFolder } from '../testing/openssl.ts';
import { defects } from './defects.ts';
import { generateCertificate } from './generate.ts';

const folder = useFolder();
const host = 'www.example.test';
let root: CertificatePem = { public: '', private: '' };

beforeAll(async () => {
  root = await generateCertificate({ kind: 'ca', subject: 'CN=Root', keyType: 'rsa2048' });
});

/** What `openssl verify` says of a server certificate for our host, under the options a strict client would set. */
async function verdictOn(record: CertificatePem, trusted: string, options: readonly string[]): Promise<string> {
  const [leaf = '', ...issuers] = certificatesIn(record.public);
  const args = ['-CAfile', await folder.write('root.pem', trusted), '-purpose', 'sslserver', '-verify_hostname', host];
  if (issuers.length > 0) args.push('-untrusted', await folder.write('issuers.pem', issuers.join('')));
  if (record.public.includes('X509 CRL')) args.push('-CRLfile', await folder.write('all.pem', record.public));
  return (await openssl('verify', ...args, ...options, await folder.write('leaf.pem', leaf))).text;
}

/** [defect, the words of openssl, further options of `openssl verify`] */
const verdicts: [string, string, string[]][] = [
  ['expired', 'certificate has expired', []],
  ['notYetValid', 'certificate is not yet valid', []],
  ['wrongHost', 'hostname mismatch', []],
  ['nulInName', 'hostname mismatch', []],
  ['selfSigned', 'self-signed certificate', []],
  ['weakKey', 'EE certificate key too weak', ['-auth_level', '2']],
  ['sha1Signature', 'CA signature digest algorithm too weak', ['-auth_level', '1']],
  ['badSignature', 'certificate signature failure', []],
  ['revoked', 'certificate revoked', ['-crl_check']],
  ['longChain', 'certificate chain too long', ['-verify_depth', '9']],
  ['missingIntermediate', 'unable to get local issuer certificate', []],
  ['nonCaIssuer', 'invalid CA certificate', []],
  ['pathTooLong', 'path length constraint exceeded', []],
  ['nameNotPermitted', 'permitted subtree violation', []],
  ['caAsLeaf', 'unsuitable certificate purpose', []],
  ['wrongKeyUsage', 'unsuitable certificate purpose', []],
  ['duplicateExtension', 'invalid certificate', []],
  ['unknownCriticalExtension', 'unhandled critical extension', []],
];
/** Openssl has nothing against these; other tests below look at them. */
const unjudged = ['noSan', 'hugeSan'];

describe('defects', () => {
  test('are all put before the judge', () => {
    expect([...verdicts.map(([name]) => name), ...unjudged].sort()).toEqual(defects.map(({ name }) => name).sort());
  });

  test('are those of the contract, each described in one sentence', () => {
    expect(defects.map(({ name }) => name)).toEqual(Object.keys(certificateDefects));
    for (const sentence of Object.values(certificateDefects)) {
      expect(sentence).toMatch(/^[A-Z][^.]+( [^ ]+\.[^ ]+)*.*\.$/);
    }
  });

  test('are absent where none is asked for, under all the options used below', async () => {
    const valid = await generateCertificate({ kind: 'leaf', subject: `CN=${host}` }, root);
    expect(await verdictOn(valid, root.public, ['-auth_level', '2', '-verify_depth', '9', '-x509_strict'])).toMatch(
      /: OK\n$/,
    );
  });

  test.each(verdicts)('%s signed by an authority: %s', async (defect, words, options) => {
    const record = await generateCertificate({ kind: 'leaf', subject: `CN=${host}`, defect }, root);
    expect(await verdictOn(record, root.public, options)).toContain(words);
  });

  test.each(verdicts.filter(([name]) => name !== 'selfSigned'))(
    '%s without an issuer: %s',
    async (defect, words, options) => {
      const keyType = defect === 'sha1Signature' ? 'rsa2048' : 'ecdsa-p256';
      const record = await generateCertificate({ kind: 'leaf', subject: `CN=${host}`, keyType, defect });
      expect(await verdictOn(record, certificatesIn(record.public).at(-1) ?? '', options)).toContain(words);
      expect(detailsOf(record).keyMatch).toBe(true);
    },
  );

  test('noSan leaves the host in the common name alone', async () => {
    const record = await generateCertificate({ kind: 'leaf', subject: `CN=${host}`, defect: 'noSan' }, root);
    const file = await folder.write('no-san.pem', record.public);
    expect((await openssl('x509', '-in', file, '-noout', '-ext', 'subjectAltName')).text).toContain('No extensions');
    expect((await makeWithOpenssl('x509', '-in', file, '-noout', '-subject')).toString()).toContain(host);
  });

  test('hugeSan has as many names as asked for', async () => {
    const record = await generateCertificate(
      { kind: 'leaf', subject: `CN=${host}`, defect: 'hugeSan', defectSize: 3000 },
      root,
    );
    const file = await folder.write('huge.pem', record.public);
    const text = (await makeWithOpenssl('x509', '-in', file, '-noout', '-ext', 'subjectAltName')).toString();
    expect(text.match(/DNS:/g)).toHaveLength(3001);
    expect(await verdictOn(record, root.public, [])).toMatch(/: OK\n$/);
  });

  test('longChain is as long as asked for and valid otherwise', async () => {
    const record = await generateCertificate(
      { kind: 'leaf', subject: `CN=${host}`, defect: 'longChain', defectSize: 30 },
      root,
    );
    expect(certificatesIn(record.public)).toHaveLength(32);
    expect(await verdictOn(record, root.public, [])).toMatch(/: OK\n$/);
  });

  test('revoked is seen in the details, and only there', async () => {
    const details = await Promise.all(
      ['revoked', 'expired'].map(async (defect) =>
        detailsOf(await generateCertificate({ kind: 'leaf', subject: 'CN=a', defect }, root)),
      ),
    );
    expect(details.map(({ revoked }) => revoked)).toEqual([true, false]);
  });
});
