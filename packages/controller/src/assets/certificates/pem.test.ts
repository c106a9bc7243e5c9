import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CertificateError } from './certificate-error.ts';
import { parsePem, pemOf } from './pem.ts';

const block = pemOf('CERTIFICATE', Buffer.from('some bytes'));

describe('PEM text', () => {
  test('what is written is read back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
        expect(parsePem(pemOf('X', bytes), '/public')).toEqual([{ label: 'X', headers: [], der: Buffer.from(bytes) }]);
      }),
    );
  });

  test('text between blocks is a comment, and line ends may be of any system', () => {
    const text = `subject=CN = a\n${block}issuer=CN = b\r\n${block.replaceAll('\n', '\r\n')}tail`;
    expect(parsePem(text, '/public').map(({ der }) => der.toString())).toEqual(['some bytes', 'some bytes']);
  });

  test('headers of encrypted keys are kept apart from the body', () => {
    const text = pemOf('RSA PRIVATE KEY', Buffer.from('x'), ['Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,00']);
    expect(parsePem(text, '/private')[0]).toMatchObject({
      headers: ['Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,00'],
    });
  });

  test.each([
    ['a block without an end', block.replace('-----END CERTIFICATE-----', '')],
    ['a block that begins inside another', `-----BEGIN CERTIFICATE-----\n${block}`],
    ['an end without a beginning', block.replace('-----BEGIN CERTIFICATE-----', '')],
    ['an end of another kind', block.replace('END CERTIFICATE', 'END X509 CRL')],
    ['characters outside base64', block.replace('c29t', 'c2*t')],
    ['base64 cut short', block.replace('c29t', 'c29')],
    ['an empty block', '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----'],
    ['more blocks than anybody needs', block.repeat(201)],
    ['a text of more than 8 MiB', 'x'.repeat(8 * 1024 * 1024 + 1)],
  ])('%s is refused', (_, text) => {
    expect(() => parsePem(text, '/public')).toThrow(expect.objectContaining({ code: 'BAD_PEM', path: '/public' }));
  });

  test('no text makes it fail in another way', () => {
    const piece = fc.constantFrom(
      '-----BEGIN A-----',
      '-----END A-----',
      '-----BEGIN B-----',
      '\n',
      'AAAA',
      ':',
      '=',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
        try {
          parsePem(pieces.join(''), '/public');
        } catch (error) {
          expect(error).toBeInstanceOf(CertificateError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
