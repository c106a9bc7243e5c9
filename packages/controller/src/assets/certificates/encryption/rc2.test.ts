import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeWithOpenssl, useFolder } from '../testing/openssl.ts';
import { decryptRc2Cbc } from './rc2.ts';

const folder = useFolder();

test.each([
  ['rc2-40-cbc', 5, 1],
  ['rc2-40-cbc', 5, 4096],
  ['rc2-cbc', 16, 7],
  ['rc2-cbc', 16, 8],
  ['rc2-cbc', 16, 1000],
])('opens what openssl locked with %s, a key of %i bytes and a text of %i', async (cipher, keyBytes, length) => {
  const [key, iv, plain] = [randomBytes(keyBytes), randomBytes(8), randomBytes(length)];
  const file = await folder.write(`${cipher}-${length}`, plain);
  const providers = ['-provider', 'legacy', '-provider', 'default'];
  const secrets = ['-K', key.toString('hex'), '-iv', iv.toString('hex')];
  const locked = await makeWithOpenssl('enc', `-${cipher}`, ...providers, ...secrets, '-in', file);
  expect(decryptRc2Cbc(key, iv, locked)).toEqual(plain);
});

test.each([
  ['nothing', 0],
  ['half a block', 12],
])('refuses %s', (_, length) => {
  expect(() => decryptRc2Cbc(Buffer.alloc(5), Buffer.alloc(8), Buffer.alloc(length))).toThrow('whole blocks');
});
