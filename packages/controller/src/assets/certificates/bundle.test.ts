import { sign, verify, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseBundle, pemOfBundle } from './bundle.ts';
import { CertificateError } from './certificate-error.ts';
import { certificatesIn, makeWithOpenssl, openssl, useFolder } from './testing/openssl.ts';

const folder = useFolder();
const chain: string[] = [];
let key = '';
let otherKey = '';

/** root → middle → leaf, made by openssl alone. */
async function makeChain(): Promise<void> {
  const [rootKey, middleKey, leafKey] = ['root.key', 'middle.key', 'leaf.key'].map(folder.path);
  const files = ['root', 'middle', 'leaf'].map((name) => folder.path(`${name}.pem`));
  const [root = '', middle = '', leaf = ''] = files;
  const ca = ['-addext', 'basicConstraints=critical,CA:TRUE'];
  const newKey = ['req', '-x509', '-nodes', '-days', '30', '-newkey', 'rsa:2048'];
  await makeWithOpenssl(...newKey, '-keyout', rootKey ?? '', '-out', root, '-subj', '/CN=Root', ...ca);
  const byRoot = ['-CA', root, '-CAkey', rootKey ?? ''];
  await makeWithOpenssl(...newKey, '-keyout', middleKey ?? '', '-out', middle, '-subj', '/CN=Middle', ...ca, ...byRoot);
  const byMiddle = ['-CA', middle, '-CAkey', middleKey ?? ''];
  await makeWithOpenssl(...newKey, '-keyout', leafKey ?? '', '-out', leaf, '-subj', '/CN=leaf.test', ...byMiddle);
  for (const file of [leaf, middle, root]) chain.push(await readFile(file, 'utf8'));
  key = await readFile(leafKey ?? '', 'utf8');
  otherKey = await readFile(middleKey ?? '', 'utf8');
}

beforeAll(makeChain);

function subjectsOf(pem: string): string[] {
  return certificatesIn(pem).map((one) => new X509Certificate(one).subject);
}

describe('a PEM bundle made by openssl', () => {
  test('is put in order, whatever order it came in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([0, 1, 2], { minLength: 3 }), fc.boolean(), async (order, withKey) => {
        const text = order.map((i) => chain[i]).join('a comment\n');
        const stored = pemOfBundle(await parseBundle(withKey ? { public: text, private: key } : { public: text }));
        expect(subjectsOf(stored.public)).toEqual(['CN=leaf.test', 'CN=Middle', 'CN=Root']);
        expect(stored.private !== '').toBe(withKey);
      }),
    );
  });

  test('stored as PEM it still satisfies openssl', async () => {
    const stored = pemOfBundle(await parseBundle({ public: [...chain].reverse().join(''), private: key }));
    const [leaf = '', ...issuers] = certificatesIn(stored.public);
    const files = [
      await folder.write('root-only', issuers[1] ?? ''),
      await folder.write('middle-only', issuers[0] ?? ''),
    ];
    const leafFile = await folder.write('leaf-only', leaf);
    expect(await openssl('verify', '-CAfile', files[0] ?? '', '-untrusted', files[1] ?? '', leafFile)).toMatchObject({
      ok: true,
    });
    const keyFile = await folder.write('stored.key', stored.private);
    expect(await makeWithOpenssl('pkey', '-in', keyFile, '-pubout')).toEqual(
      await makeWithOpenssl('x509', '-in', leafFile, '-noout', '-pubkey'),
    );
  });

  test('a gap in the chain is kept as it is', async () => {
    const { leaf, chain: issuers } = await parseBundle({ public: `${chain[2]}${chain[0]}` });
    expect([leaf, ...issuers].map(({ subject }) => subject)).toEqual(['CN=leaf.test', 'CN=Root']);
  });

  test('a key among the certificates is found and taken out of the public part', async () => {
    const stored = pemOfBundle(await parseBundle({ public: `${key}${chain.join('')}` }));
    expect(stored.public).not.toContain('PRIVATE');
    expect(stored.private).toContain('BEGIN PRIVATE KEY');
  });

  test('the same certificate twice is stored once', async () => {
    expect((await parseBundle({ public: chain.join('').repeat(2) })).chain).toHaveLength(2);
  });

  test('a key that belongs to another certificate of the chain makes that one the leaf', async () => {
    expect((await parseBundle({ public: chain.join(''), private: otherKey })).leaf.subject).toBe('CN=Middle');
  });

  test.each<[string, () => { public: string; private?: string }, string, string]>([
    ['a foreign key', () => ({ public: chain[0] ?? '', private: otherKey }), 'KEY_MISMATCH', '/private'],
    ['no PEM at all', () => ({ public: 'hello' }), 'BAD_PEM', '/public'],
    ['only a key', () => ({ public: key }), 'BAD_PEM', '/public'],
    ['a certificate for a key', () => ({ public: chain[0] ?? '', private: chain[0] ?? '' }), 'BAD_PEM', '/private'],
    ['a damaged certificate', () => ({ public: (chain[0] ?? '').replace('MII', 'MIA') }), 'BAD_PEM', '/public'],
    ['a damaged key', () => ({ public: chain[0] ?? '', private: key.replace('MII', 'MIA') }), 'BAD_PEM', '/private'],
  ])('%s is refused', async (_, input, code, path) => {
    await expect(parseBundle(input())).rejects.toMatchObject({ name: 'CertificateError', code, path });
  });
});

describe('damaged PEM', () => {
  /** Replaces characters of the text, leaving the rest in place. */
  const damage = fc.array(fc.tuple(fc.nat(6000), fc.constantFrom(...'ABab01+/=- \n')), { minLength: 1, maxLength: 4 });

  function damaged(text: string, changes: [number, string][]): string {
    const characters = [...text];
    for (const [at, character] of changes) characters[at % characters.length] = character;
    return characters.join('');
  }

  test('is read or refused, never anything else, and a damaged key never passes as the right one', async () => {
    await fc.assert(
      fc.asyncProperty(damage, fc.boolean(), async (changes, damagesKey) => {
        const input = damagesKey
          ? { public: chain[0] ?? '', private: damaged(key, changes) }
          : { public: damaged(chain.join(''), changes), private: key };
        const bundle = await parseBundle(input).catch((error: unknown) => {
          expect(error).toBeInstanceOf(CertificateError);
        });
        if (bundle && damagesKey) {
          const probe = Buffer.from('probe');
          expect(verify('sha256', probe, bundle.leaf.publicKey, sign('sha256', probe, bundle.privateKey ?? ''))).toBe(
            true,
          );
        }
      }),
      { numRuns: 300 },
    );
  });

  test('random texts and random bytes in blocks are refused', async () => {
    const block = fc
      .tuple(
        fc.constantFrom('CERTIFICATE', 'X509 CRL', 'PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'EC PRIVATE KEY'),
        fc.uint8Array(),
      )
      .map(
        ([label, bytes]) =>
          `-----BEGIN ${label}-----\n${Buffer.from(bytes).toString('base64')}\n-----END ${label}-----\n`,
      );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(block, fc.string()), { maxLength: 5 }),
        fc.string(),
        async (parts, passphrase) => {
          const text = parts.join('');
          await expect(parseBundle({ public: text, private: text, passphrase })).rejects.toBeInstanceOf(
            CertificateError,
          );
          await expect(
            parseBundle({ public: `${chain[0]}${text}`, private: text || 'x', passphrase }),
          ).rejects.toBeInstanceOf(CertificateError);
        },
      ),
      { numRuns: 300 },
    );
  });
});
