import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { parsePrivateKey } from './private-key.ts';
import { makeWithOpenssl, useFolder } from './testing/openssl.ts';

const folder = useFolder();
const passphrase = 'pässword 1';
const out = ['-passout', `pass:${passphrase}`];

beforeAll(async () => {
  await makeWithOpenssl('genrsa', '-out', folder.path('rsa.key'), '2048');
  await makeWithOpenssl('ecparam', '-name', 'secp384r1', '-genkey', '-out', folder.path('ec.key'));
  await makeWithOpenssl('genpkey', '-algorithm', 'ed25519', '-out', folder.path('ed.key'));
});

async function publicPemOf(file: string): Promise<string> {
  return (await makeWithOpenssl('pkey', '-in', folder.path(file), '-pubout')).toString();
}

/** [what, which key, the openssl command that writes it] */
const forms: [string, string, string[]][] = [
  ['PKCS#8', 'rsa.key', ['pkey']],
  ['PKCS#1', 'rsa.key', ['rsa', '-traditional']],
  ['SEC 1 with its parameters', 'ec.key', ['ec', '-param_enc', 'named_curve']],
  ['Ed25519', 'ed.key', ['pkey']],
];

const encryptedForms: [string, string, string[]][] = [
  ['PKCS#8 with AES-256 and PBKDF2', 'rsa.key', ['pkcs8', '-topk8', '-v2', 'aes-256-cbc', ...out]],
  [
    'PKCS#8 with AES-128 and HMAC-SHA-512',
    'ec.key',
    ['pkcs8', '-topk8', '-v2', 'aes-128-cbc', '-v2prf', 'hmacWithSHA512', ...out],
  ],
  [
    'PKCS#8 with AES-192 and 500,000 iterations',
    'ed.key',
    ['pkcs8', '-topk8', '-v2', 'aes-192-cbc', '-iter', '500000', ...out],
  ],
  ['PKCS#8 with 3DES', 'rsa.key', ['pkcs8', '-topk8', '-v2', 'des3', ...out]],
  ['PKCS#8 with scrypt', 'ec.key', ['pkcs8', '-topk8', '-scrypt', ...out]],
  ['PKCS#8 with the PKCS#12 cipher 3DES', 'rsa.key', ['pkcs8', '-topk8', '-v1', 'PBE-SHA1-3DES', ...out]],
  ['PKCS#8 with the PKCS#12 cipher 2DES', 'rsa.key', ['pkcs8', '-topk8', '-v1', 'PBE-SHA1-2DES', ...out]],
  [
    'PKCS#8 with the PKCS#12 cipher RC2-128',
    'rsa.key',
    ['pkcs8', '-topk8', '-v1', 'PBE-SHA1-RC2-128', '-provider', 'legacy', '-provider', 'default', ...out],
  ],
  ['PKCS#1 with AES-256', 'rsa.key', ['rsa', '-traditional', '-aes256', ...out]],
  ['SEC 1 with 3DES', 'ec.key', ['ec', '-des3', ...out]],
];

async function write(key: string, command: string[]): Promise<string> {
  const [verb = '', ...options] = command;
  const file = folder.path('written.key');
  await makeWithOpenssl(verb, '-in', folder.path(key), '-out', file, ...options);
  return readFile(file, 'utf8');
}

describe('a private key written by openssl', () => {
  test.each(forms)('is read from %s', async (_, key, command) => {
    const parsed = await parsePrivateKey(await write(key, command));
    expect(createPublicKey(parsed).export({ type: 'spki', format: 'pem' })).toBe(await publicPemOf(key));
  });

  test.each(encryptedForms)('is read from %s with its passphrase only', async (_, key, command) => {
    const pem = await write(key, command);
    const parsed = await parsePrivateKey(pem, passphrase);
    expect(createPublicKey(parsed).export({ type: 'spki', format: 'pem' })).toBe(await publicPemOf(key));
    for (const wrong of ['wrong', '', undefined]) {
      await expect(parsePrivateKey(pem, wrong)).rejects.toMatchObject({ code: 'BAD_PASSPHRASE', path: '/passphrase' });
    }
  });

  test('is refused where its cipher is out of use', async () => {
    const legacy = ['-provider', 'legacy', '-provider', 'default'];
    const pem = await write('rsa.key', ['pkcs8', '-topk8', '-v1', 'PBE-MD5-DES', ...legacy, ...out]);
    await expect(parsePrivateKey(pem, passphrase)).rejects.toMatchObject({ code: 'UNSUPPORTED_ENCRYPTION' });
  });

  test('is refused where its passphrase would take too long to hash', async () => {
    const pem = await write('rsa.key', ['pkcs8', '-topk8', '-v1', 'PBE-SHA1-3DES', '-iter', '800000', ...out]);
    await expect(parsePrivateKey(pem, passphrase)).rejects.toMatchObject({ code: 'UNSUPPORTED_ENCRYPTION' });
  });

  test('of OpenSSH is refused as unreadable', async () => {
    const pem = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n';
    await expect(parsePrivateKey(pem)).rejects.toMatchObject({ code: 'BAD_PEM', path: '/private' });
  });
});
