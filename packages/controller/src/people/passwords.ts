import { argon2, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const hashAsync = promisify(argon2);
const cost = { memory: 46 * 1024, passes: 2, parallelism: 1, tagLength: 32 } as const;
const maxAtOnce = 4;

let running = 0;
const waiting: (() => void)[] = [];

/** Each hash takes 46 MiB, so that only a few may run at once. */
const limited = async <T>(work: () => Promise<T>): Promise<T> => {
  if (running >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
};

const derive = (password: string, nonce: Buffer) =>
  limited(() => hashAsync('argon2id', { message: password.normalize('NFKC'), nonce, ...cost }));

/** Argon2id, written as `argon2id$<salt>$<hash>`. */
export const hashPassword = async (password: string) => {
  const nonce = randomBytes(16);
  return `argon2id$${nonce.toString('base64url')}$${(await derive(password, nonce)).toString('base64url')}`;
};

/** Takes as long for a user that does not exist: pass `undefined` then. */
export const verifyPassword = async (password: string, stored: string | undefined) => {
  const [, nonce = 'AAAAAAAAAAAAAAAAAAAAAA', expected = ''] = (stored ?? '').split('$');
  const actual = await derive(password, Buffer.from(nonce, 'base64url'));
  const wanted = Buffer.from(expected, 'base64url');
  return wanted.length === actual.length && timingSafeEqual(wanted, actual);
};

// Letters and digits that nobody confuses when reading them aloud.
const alphabet = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

export const temporaryPassword = (length: number) =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
