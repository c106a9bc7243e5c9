import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import type { CertificatePem } from '../bundle.ts';
import { detailsOf } from '../details.ts';
import { keyTypes } from '../key-pair.ts';
import { certificatesIn, makeWithOpenssl, openssl, useFolder } from '../testing/openssl.ts';
import { generateCertificate } from './generate.ts';
import type { GenerateRequest } from './issue-plan.ts';

const folder = useFolder();
let root: CertificatePem = { public: '', private: '' };

beforeAll(async () => {
  root = await generateCertificate({ kind: 'ca', subject: 'CN=Root,O=Example,C=NL' });
  await folder.write('root.pem', root.public);
});

/** The verdict of `openssl verify -x509_strict` on the leaf of a record. */
async function verdictOn(record: CertificatePem, trusted: string): Promise<string> {
  const [leaf = '', ...issuers] = certificatesIn(record.public);
  const leafFile = await folder.write('leaf.pem', leaf);
  const untrusted = issuers.length > 0 ? ['-untrusted', await folder.write('issuers.pem', issuers.join(''))] : [];
  return (await openssl('verify', '-x509_strict', '-CAfile', trusted, ...untrusted, leafFile)).text;
}

describe('a generated certificate', () => {
  test.each(keyTypes)('with a key %s satisfies openssl', async (keyType) => {
    const leaf = await generateCertificate({ kind: 'leaf', subject: 'CN=www.example.test', keyType }, root);
    expect(await verdictOn(leaf, folder.path('root.pem'))).toMatch(/: OK\n$/);
    expect(detailsOf(leaf)).toMatchObject({
      keyType,
      san: ['DNS:www.example.test'],
      chainComplete: true,
      keyMatch: true,
    });
    const keyFile = await folder.write('key.pem', leaf.private);
    expect((await openssl('pkey', '-in', keyFile, '-check', '-noout')).text).toContain('Key is valid');
  });

  test('that signs itself satisfies openssl', async () => {
    const own = await generateCertificate({ kind: 'self-signed', subject: 'CN=www.example.test' });
    expect(await verdictOn(own, await folder.write('own.pem', own.public))).toMatch(/: OK\n$/);
  });

  test.each(['rsa2048', 'ecdsa-p384', 'ed25519'] as const)(
    'may be signed by an authority with a key %s and an intermediate one',
    async (keyType) => {
      const top = await generateCertificate({ kind: 'ca', subject: 'CN=Top', keyType });
      const middle = await generateCertificate({ kind: 'ca', subject: 'CN=Middle', keyType: 'ecdsa-p256' }, top);
      const leaf = await generateCertificate({ kind: 'leaf', subject: 'CN=www.example.test' }, middle);
      expect(certificatesIn(leaf.public)).toHaveLength(3);
      expect(await verdictOn(leaf, await folder.write('top.pem', top.public))).toMatch(/: OK\n$/);
    },
  );

  test('is signed by an authority that openssl made, in the name exactly as that wrote it', async () => {
    const [keyFile, file] = [folder.path('made.key'), folder.path('made.pem')];
    const subject = ['-utf8', '-subj', '/C=NL/O=Exämple/CN=Odd, "root"'];
    const usage = ['-addext', 'keyUsage=critical,keyCertSign'];
    const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-521', '-nodes', '-keyout', keyFile];
    await makeWithOpenssl('req', '-x509', ...newKey, ...subject, ...usage, '-out', file);
    const made = { public: await readFile(file, 'utf8'), private: await readFile(keyFile, 'utf8') };
    expect(await verdictOn(await generateCertificate({ kind: 'leaf', subject: 'CN=a.test' }, made), file)).toMatch(
      /: OK\n$/,
    );
  });

  test('carries every kind of alternative name', async () => {
    const san = ['a.test', '*.a.test', '10.0.0.1', '2001:db8::1', 'x@a.test', 'https://a.test/'];
    const record = await generateCertificate({ kind: 'self-signed', subject: '', san });
    const text = (
      await makeWithOpenssl(
        'x509',
        '-in',
        await folder.write('san.pem', record.public),
        '-noout',
        '-ext',
        'subjectAltName',
      )
    ).toString();
    expect(text).toContain('critical');
    expect(text).toContain(
      'DNS:a.test, DNS:*.a.test, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1, email:x@a.test, URI:https://a.test/',
    );
  });

  test('is valid from and until the dates asked for, far beyond 2050', async () => {
    const request = {
      kind: 'self-signed',
      subject: 'CN=a.test',
      notBefore: '2049-12-31T00:00:00.000Z',
      validDays: 36_500,
    } as const;
    const record = await generateCertificate(request);
    const dates = (
      await makeWithOpenssl('x509', '-in', await folder.write('dates.pem', record.public), '-noout', '-dates')
    ).toString();
    expect(dates).toContain('notBefore=Dec 31 00:00:00 2049 GMT');
    expect(dates).toContain('notAfter=Dec  7 00:00:00 2149 GMT');
    expect(detailsOf(record)).toMatchObject({ notBefore: request.notBefore, notAfter: '2149-12-07T00:00:00.000Z' });
  });

  test('request satisfies openssl and becomes a certificate there that fits its key', async () => {
    const request = await generateCertificate({ kind: 'csr', subject: 'CN=a.test', san: ['a.test'] });
    const file = await folder.write('request.pem', request.public);
    expect((await openssl('req', '-in', file, '-noout', '-verify')).text).toContain('verify OK');
    await folder.write('root.key', root.private);
    const authority = ['-CA', folder.path('root.pem'), '-CAkey', folder.path('root.key'), '-copy_extensions', 'copy'];
    const signed = (await makeWithOpenssl('x509', '-req', '-in', file, ...authority)).toString();
    expect(detailsOf({ public: signed, private: request.private })).toMatchObject({
      keyMatch: true,
      san: ['DNS:a.test'],
    });
  });

  test('and its revocation list serve a real TLS connection', async () => {
    const record = await generateCertificate({ kind: 'leaf', subject: 'CN=localhost', defect: 'revoked' }, root);
    expect(record.public).toContain('BEGIN X509 CRL');
    const server = tls.createServer({ cert: record.public, key: record.private }, (socket) => socket.end('hello'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: root.public });
    const [greeting] = (await once(client, 'data')) as [Buffer];
    expect([greeting.toString(), client.authorized]).toEqual(['hello', true]);
    client.destroy();
    server.close();
  });

  test('of 4096 bits leaves the event loop free while it is made', { retry: 2 }, async () => {
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const start = performance.now();
    while (performance.now() - start < 1000) {
      await generateCertificate({ kind: 'self-signed', subject: 'CN=a.test', keyType: 'rsa4096' });
    }
    clearInterval(timer);
    expect(longest).toBeLessThan((performance.now() - start) / 3);
  });
});

describe('a request that cannot be met', () => {
  const leaf = { kind: 'leaf', subject: 'CN=a.test' } as const;

  test.each<[string, GenerateRequest, string, string]>([
    ['a leaf without an issuer', leaf, 'ISSUER_REQUIRED', '/generate/issuerCertificateID'],
    ['neither subject nor name', { kind: 'self-signed', subject: '' }, 'BAD_SUBJECT', '/generate/subject'],
    ['a bad name', { ...leaf, san: ['a b'] }, 'BAD_SAN', '/generate/san/0'],
    ['no validity', { ...leaf, validDays: 0 }, 'BAD_VALIDITY', '/generate/validDays'],
    ['an endless validity', { ...leaf, validDays: 4_000_000 }, 'BAD_VALIDITY', '/generate/validDays'],
    ['no date', { ...leaf, notBefore: 'soon' }, 'BAD_VALIDITY', '/generate/notBefore'],
    ['a date before 1970', { ...leaf, notBefore: '1960-01-01T00:00:00Z' }, 'BAD_VALIDITY', '/generate/notBefore'],
    ['an unknown defect', { ...leaf, defect: 'rusty' }, 'BAD_DEFECT', '/generate/defect'],
    ['a size out of range', { ...leaf, defect: 'longChain', defectSize: 51 }, 'BAD_DEFECT', '/generate/defectSize'],
    ['a size where there is none', { ...leaf, defect: 'expired', defectSize: 2 }, 'BAD_DEFECT', '/generate/defectSize'],
    ['a defective request', { kind: 'csr', subject: 'CN=a', defect: 'expired' }, 'BAD_DEFECT', '/generate/defect'],
    [
      'SHA-1 with Ed25519',
      { kind: 'self-signed', subject: 'CN=a', keyType: 'ed25519', defect: 'sha1Signature' },
      'BAD_DEFECT',
      '/generate/defect',
    ],
  ])('%s is refused', async (_, request, code, path) => {
    await expect(generateCertificate(request)).rejects.toMatchObject({ code, path });
  });

  test('an issuer without a key, or that is no authority, is refused', async () => {
    const own = await generateCertificate({ kind: 'self-signed', subject: 'CN=a.test' });
    const path = '/generate/issuerCertificateID';
    await expect(generateCertificate(leaf, { public: root.public, private: '' })).rejects.toMatchObject({
      code: 'ISSUER_HAS_NO_KEY',
      path,
    });
    await expect(generateCertificate(leaf, own)).rejects.toMatchObject({ code: 'ISSUER_NOT_CA', path });
  });

  test('an issuer whose key cannot sign here is refused', async () => {
    const [keyFile, file] = [folder.path('odd.key'), folder.path('odd.pem')];
    const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1', '-nodes', '-keyout', keyFile];
    await makeWithOpenssl('req', '-x509', ...newKey, '-subj', '/CN=Odd', '-out', file);
    const odd = { public: await readFile(file, 'utf8'), private: await readFile(keyFile, 'utf8') };
    await expect(generateCertificate(leaf, odd)).rejects.toMatchObject({ code: 'ISSUER_KEY_UNSUPPORTED' });
  });
});
