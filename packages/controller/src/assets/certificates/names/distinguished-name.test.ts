import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CertificateError } from '../certificate-error.ts';
import { generateCertificate } from '../issuing/generate.ts';
import { makeWithOpenssl, useFolder } from '../testing/openssl.ts';
import { distinguishedNameOf, parseDistinguishedName, type SubjectInput } from './distinguished-name.ts';

const folder = useFolder();
const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => !/\p{Cc}/u.test(text));

describe('a distinguished name', () => {
  test('has the same text after a round trip', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('CN', 'O', 'OU', 'L', '1.2.3.4'), value), (subject) => {
        const text = distinguishedNameOf(parseDistinguishedName(subject));
        expect(distinguishedNameOf(parseDistinguishedName(text))).toBe(text);
      }),
    );
  });

  test.each<[SubjectInput, string]>([
    ['CN=www.example.test, O=Example, C=nl', 'CN=www.example.test,O=Example,C=NL'],
    [{ CN: 'a, b', E: 'x@y.test' }, 'CN=a\\, b,emailAddress=x@y.test'],
    ['CN="quoted, name" , O= spaced ', 'CN=quoted\\, name,O=spaced'],
    ['CN=Lu\\C4\\8Di\\C4\\87+OU=x', 'OU=x+CN=Lučić'],
    ['cn=\\#hash,DC=example,DC=test', 'CN=\\#hash,DC=example,DC=test'],
    ['', ''],
  ])('%j reads as %s', (input, text) => {
    expect(distinguishedNameOf(parseDistinguishedName(input))).toBe(text);
  });

  test('is what openssl prints for the certificate', async () => {
    const text = 'CN=Ünï \\+ \\"x\\",OU=A,OU=B,O=Exam\\, ple,ST=Utrecht,C=NL';
    const { public: pem } = await generateCertificate({ kind: 'self-signed', subject: text, san: ['a.test'] });
    const file = await folder.write('name.pem', pem);
    const options = ['-noout', '-subject', '-nameopt', 'RFC2253,-esc_msb,utf8'];
    expect((await makeWithOpenssl('x509', '-in', file, ...options)).toString().trim()).toBe(`subject=${text}`);
  });

  test.each([
    'example.test',
    'CN',
    'CN=',
    'CN=a,',
    'CN=a,,O=b',
    'WHAT=x',
    'CN=a;O=b',
    'CN="a',
    'CN="a" b',
    'CN=\\zz',
    'CN=\\FF',
    'CN=\\00',
    'CN=#0c0161',
    'C=NLD',
    'DC=ü',
    `CN=${'x'.repeat(257)}`,
  ])('%j is refused', (text) => {
    expect(() => parseDistinguishedName(text)).toThrow(expect.objectContaining({ code: 'BAD_SUBJECT' }));
  });

  test('no text makes it fail in another way', () => {
    const piece = fc.constantFrom('CN=', 'O=', ',', '+', '\\', '"', '#', ' ', 'a', '1.2=', '\\41');
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ unit: 'binary' })), { maxLength: 12 }), (pieces) => {
        try {
          distinguishedNameOf(parseDistinguishedName(pieces.join('')));
        } catch (error) {
          expect(error).toBeInstanceOf(CertificateError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
