import { createCipheriv, createDecipheriv, randomBytes, type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { type Static, Type } from 'typebox';

const derive = promisify<Uint8Array, Uint8Array, number, ScryptOptions, Buffer>(scrypt);

/** Cost of one guess: 64 MiB twice. Fixed, so that no archive can ask for more. */
const cost = { N: 65_536, r: 8, p: 2 } as const;
const maxmem = 128 * 1_048_576;

const closed = { additionalProperties: false } as const;
const Base64 = (maxLength: number) => Type.String({ maxLength, pattern: '^[A-Za-z0-9+/]*={0,2}$' });

/** `secrets.json` of an archive. */
export const SealedSecrets = Type.Object(
  {
    schema: Type.Literal('rushhour.secrets/1'),
    kdf: Type.Object(
      {
        name: Type.Literal('scrypt'),
        N: Type.Literal(cost.N),
        r: Type.Literal(cost.r),
        p: Type.Literal(cost.p),
        salt: Base64(64),
      },
      closed,
    ),
    cipher: Type.Literal('aes-256-gcm'),
    iv: Base64(32),
    tag: Base64(32),
    data: Base64(32 * 1_048_576),
  },
  closed,
);
export type SealedSecrets = Static<typeof SealedSecrets>;

/** Default export options. */
export const PlainSecrets = Type.Object(
  {
    task: Type.Record(Type.String(), Type.String(), { description: 'By JSON pointer into task.json' }),
    tunnels: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), { description: 'By source id' }),
    certificates: Type.Record(Type.String(), Type.String(), { description: 'Private keys in PEM, by source id' }),
  },
  closed,
);
export type PlainSecrets = Static<typeof PlainSecrets>;

/** Sealed together with `bound`, the texts they belong to: they cannot be opened with others. */
export const sealSecrets = async (secrets: PlainSecrets, passphrase: Buffer, bound: string): Promise<SealedSecrets> => {
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const key = await derive(passphrase, salt, 32, { ...cost, maxmem });
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(bound));
  const data = Buffer.concat([cipher.update(JSON.stringify(secrets)), cipher.final()]);
  return {
    schema: 'rushhour.secrets/1',
    kdf: { name: 'scrypt', ...cost, salt: salt.toString('base64') },
    cipher: 'aes-256-gcm',
    iv: iv.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    data: data.toString('base64'),
  };
};

/** Undefined with a wrong passphrase or another archive. */
export const openSecrets = async (
  sealed: SealedSecrets,
  passphrase: Buffer,
  bound: string,
): Promise<unknown | undefined> => {
  const [salt, iv, tag] = [sealed.kdf.salt, sealed.iv, sealed.tag].map((text) => Buffer.from(text, 'base64'));
  if (salt === undefined || iv?.length !== 12 || tag?.length !== 16) return undefined;
  const key = await derive(passphrase, salt, 32, { ...cost, maxmem });
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(bound)).setAuthTag(tag);
    const plain = Buffer.concat([decipher.update(Buffer.from(sealed.data, 'base64')), decipher.final()]);
    return JSON.parse(plain.toString('utf8'));
  } catch {
    return undefined;
  }
};
