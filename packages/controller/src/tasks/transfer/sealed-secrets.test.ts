import { describe, expect, it } from 'vitest';
import { openSecrets, type PlainSecrets, sealSecrets } from './sealed-secrets.ts';

const secrets: PlainSecrets = {
  task: { '/configuration/0/values/ipsecPsk': 'täsk secret' },
  tunnels: { 5: { psk: 'tunnel secret' } },
  certificates: { 7: 'PRIVATE KEY' },
};
const passphrase = Buffer.from('correct horse battery staple');
const bound = '{"manifest":1}{"task":1}';

describe('sealed secrets', () => {
  it('open with the passphrase and the texts they were sealed with', async () => {
    const sealed = await sealSecrets(secrets, passphrase, bound);
    expect(await openSecrets(sealed, passphrase, bound)).toEqual(secrets);
    expect(JSON.stringify(sealed)).not.toMatch(/secret"|PRIVATE|ipsecPsk/);
  });

  it('open with nothing else', async () => {
    const sealed = await sealSecrets(secrets, passphrase, bound);
    const flipped = Buffer.from(sealed.data, 'base64');
    flipped[3] = (flipped[3] ?? 0) ^ 1;
    const attempts = [
      openSecrets(sealed, Buffer.from('correct horse battery stapler'), bound),
      openSecrets(sealed, passphrase, `${bound} `),
      openSecrets({ ...sealed, data: flipped.toString('base64') }, passphrase, bound),
      openSecrets({ ...sealed, tag: '' }, passphrase, bound),
      openSecrets({ ...sealed, tag: sealed.tag.slice(0, 8) }, passphrase, bound),
      openSecrets({ ...sealed, iv: '' }, passphrase, bound),
    ];
    expect(await Promise.all(attempts)).toEqual(attempts.map(() => undefined));
  });

  it('look different every time', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => sealSecrets(secrets, passphrase, bound)));
    expect(one?.data).not.toBe(other?.data);
    expect(one?.kdf.salt).not.toBe(other?.kdf.salt);
  });
});
