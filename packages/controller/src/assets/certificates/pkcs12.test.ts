import { createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { pemOfBundle } from './bundle.ts';
import { CertificateError } from './certificate-error.ts';
import { generateCertificate } from './issuing/generate.ts';
import { parsePkcs12 } from './pkcs12.ts';
import { certificatesIn, makeWithOpenssl, useFolder } from './testing/openssl.ts';

const folder = useFolder();
const passphrase = 'pässword 1';
const legacy = ['-provider', 'legacy', '-provider', 'default'];
let record = { public: '', private: '' };

beforeAll(async () => {
  const root = await generateCertificate({ kind: 'ca', subject: 'CN=Root' });
  record = await generateCertificate({ kind: 'leaf', subject: 'CN=leaf.test', keyType: 'rsa2048' }, root);
  const [leaf = '', ...issuers] = certificatesIn(record.public);
  await folder.write('key.pem', record.private);
  await folder.write('leaf.pem', leaf);
  await folder.write('issuers.pem', issuers.join(''));
});

async function exportPkcs12(options: readonly string[], password = passphrase): Promise<Buffer> {
  const file = folder.path('made.p12');
  const inputs = [
    '-inkey',
    folder.path('key.pem'),
    '-in',
    folder.path('leaf.pem'),
    '-certfile',
    folder.path('issuers.pem'),
  ];
  await makeWithOpenssl('pkcs12', '-export', ...inputs, '-out', file, '-passout', `pass:${password}`, ...options);
  return readFile(file);
}

const forms: [string, string[]][] = [
  ['modern: AES-256 with a SHA-256 MAC', []],
  ['AES-128 with HMAC-SHA-512 MAC', ['-keypbe', 'AES-128-CBC', '-certpbe', 'AES-128-CBC', '-macalg', 'sha512']],
  ['a SHA-384 MAC and 20,000 iterations', ['-macalg', 'sha384', '-iter', '20000']],
  ['legacy: RC2-40 and 3DES with a SHA-1 MAC', ['-legacy']],
  ['legacy: 3DES for both', ['-descert', '-legacy']],
  ['3DES without the legacy provider', ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1']],
  ['RC2-128', ['-certpbe', 'PBE-SHA1-RC2-128', ...legacy]],
  ['certificates in clear', ['-certpbe', 'NONE']],
  ['a key in clear', ['-keypbe', 'NONE']],
  ['no MAC', ['-nomac']],
];

describe('a PKCS#12 file made by openssl', () => {
  test.each(forms)('%s is read whole', async (_, options) => {
    expect(pemOfBundle(await parsePkcs12(await exportPkcs12(options), passphrase))).toEqual(record);
  });

  test.each(forms)('%s with a wrong passphrase is BAD_PASSPHRASE', async (_, options) => {
    const file = await exportPkcs12(options);
    for (const wrong of ['wrong', '', `${passphrase} `]) {
      await expect(parsePkcs12(file, wrong)).rejects.toMatchObject({ code: 'BAD_PASSPHRASE', path: '/passphrase' });
    }
  });

  test.each(forms.slice(0, 4))('%s may have an empty passphrase', async (_, options) => {
    expect(pemOfBundle(await parsePkcs12(await exportPkcs12(options, ''), ''))).toEqual(record);
  });

  test('certificates without a key are a bundle without a key', async () => {
    const file = await exportPkcs12(['-nokeys']);
    expect(pemOfBundle(await parsePkcs12(file, passphrase))).toMatchObject({ private: '' });
  });

  test('a key among certificates of others is KEY_MISMATCH', async () => {
    const file = await exportPkcs12(['-nocerts']);
    await expect(parsePkcs12(file, passphrase)).rejects.toMatchObject({ code: 'KEY_MISMATCH', path: '/pkcs12' });
  });

  test('a key without certificates is refused', async () => {
    const file = folder.path('key-only.p12');
    const inputs = ['-nocerts', '-inkey', folder.path('key.pem'), '-passout', 'pass:x'];
    await makeWithOpenssl('pkcs12', '-export', ...inputs, '-out', file);
    await expect(parsePkcs12(await readFile(file), 'x')).rejects.toMatchObject({ code: 'BAD_PKCS12', path: '/pkcs12' });
  });

  test('a cipher out of use is named', async () => {
    const file = await exportPkcs12(['-certpbe', 'PBE-SHA1-RC4-128', ...legacy]);
    await expect(parsePkcs12(file, passphrase)).rejects.toMatchObject({
      code: 'UNSUPPORTED_ENCRYPTION',
      message: expect.stringContaining('1.2.840.113549.1.12.1.1'),
    });
  });

  test('an iteration count that would take too long is refused', async () => {
    const file = await exportPkcs12(['-keypbe', 'NONE', '-certpbe', 'PBE-SHA1-3DES', '-iter', '800000', '-nomaciter']);
    await expect(parsePkcs12(file, passphrase)).rejects.toMatchObject({ code: 'UNSUPPORTED_ENCRYPTION' });
  });
});

/** openssl 3.0 cannot write PBMAC1 (RFC 9579), so the MAC is made here and Node's own PKCS#12 reader judges the file. */
async function withPbmac1(keyBytes: number): Promise<Buffer> {
  const plain = asn1js.fromBER(await exportPkcs12(['-nomac'])).result as asn1js.Sequence;
  const [version, authSafe] = plain.valueBlock.value as [asn1js.Integer, asn1js.Sequence];
  const content = authSafe.valueBlock.value[1] as asn1js.Constructed;
  const octets = content.valueBlock.value[0] as asn1js.OctetString;
  const salt = randomBytes(16);
  const mac = createHmac('sha256', pbkdf2Sync(passphrase, salt, 2048, keyBytes, 'sha256')).update(
    Buffer.from(octets.getValue()),
  );
  const oid = (value: string) => new asn1js.ObjectIdentifier({ value });
  const sequence = (...value: asn1js.AsnType[]) => new asn1js.Sequence({ value: value as asn1js.BaseBlock[] });
  const integer = (value: number) => new asn1js.Integer({ value });
  const bytes = (value: Uint8Array) => new asn1js.OctetString({ valueHex: new Uint8Array(value) });
  const hmac = sequence(oid('1.2.840.113549.2.9'), new asn1js.Null());
  const derivation = sequence(
    oid('1.2.840.113549.1.5.12'),
    sequence(bytes(salt), integer(2048), integer(keyBytes), hmac),
  );
  const algorithm = sequence(oid('1.2.840.113549.1.5.14'), sequence(derivation, hmac));
  const macData = sequence(sequence(algorithm, bytes(mac.digest())), bytes(Buffer.from('NOT USED')), integer(1));
  return Buffer.from(sequence(version, authSafe, macData).toBER());
}

describe('a PKCS#12 file with a PBMAC1', () => {
  test.each([32, 20])('and a MAC key of %i bytes is read, as Node itself does', async (keyBytes) => {
    const file = await withPbmac1(keyBytes);
    expect(() => createSecureContext({ pfx: file, passphrase })).not.toThrow();
    expect(pemOfBundle(await parsePkcs12(file, passphrase))).toEqual(record);
    await expect(parsePkcs12(file, 'wrong')).rejects.toMatchObject({ code: 'BAD_PASSPHRASE' });
  });
});

describe('damaged PKCS#12', () => {
  test('is refused, whatever byte is changed or wherever it is cut', async () => {
    const file = await exportPkcs12([]);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(file.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        async (at, change, cuts) => {
          const bytes = Buffer.from(cuts ? file.subarray(0, at) : file);
          if (!cuts) bytes.writeUInt8(bytes.readUInt8(at) ^ change, at);
          const outcome = await parsePkcs12(bytes, passphrase).catch((error: unknown) => error);
          // A few bytes carry no meaning, such as the version; what is read must then be unharmed.
          if (!(outcome instanceof CertificateError))
            expect(outcome).toMatchObject({ leaf: { subject: 'CN=leaf.test' } });
        },
      ),
      { numRuns: 300 },
    );
  });

  test('random bytes are refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.string(), async (bytes, password) => {
        await expect(parsePkcs12(bytes, password)).rejects.toMatchObject({ code: 'BAD_PKCS12' });
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    [90, 'is read'],
    [150, 'is refused'],
  ])('%i parts of two certificates each: the file %s', async (count, verdict) => {
    const plain = asn1js.fromBER(await exportPkcs12(['-nomac', '-keypbe', 'NONE', '-certpbe', 'NONE'])).result;
    const [, authSafe] = (plain as asn1js.Sequence).valueBlock.value as [asn1js.Integer, asn1js.Sequence];
    const content = authSafe.valueBlock.value[1] as asn1js.Constructed;
    const safe = asn1js.fromBER((content.valueBlock.value[0] as asn1js.OctetString).getValue()).result;
    const [certificates] = (safe as asn1js.Sequence).valueBlock.value as [asn1js.BaseBlock];
    const value = Array.from({ length: count }, () => certificates);
    content.valueBlock.value = [new asn1js.OctetString({ valueHex: new asn1js.Sequence({ value }).toBER() })];
    const outcome = await parsePkcs12(Buffer.from(plain.toBER()), '').catch((error: unknown) => error);
    if (verdict === 'is refused') expect(outcome).toMatchObject({ code: 'BAD_PKCS12' });
    else expect(outcome).toMatchObject({ leaf: { subject: 'CN=leaf.test' }, privateKey: undefined });
  });

  test('nesting a thousand levels deep is refused', async () => {
    const bomb = Buffer.concat([Buffer.from('3080'.repeat(1000), 'hex'), Buffer.alloc(2000)]);
    await expect(parsePkcs12(bomb, '')).rejects.toMatchObject({ code: 'BAD_PKCS12' });
  });
});
