import { argon2, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Settings } from '@rushhour/contract';
import { createSemaphore } from '../concurrency/semaphore.ts';
import type { Issue } from '../errors.ts';

const longest = 128;

/** The most frequent words in lists of leaked passwords. A password that is little more than one of them is refused. */
const commonWords =
  `password passw0rd passwort motdepasse contrasena qwerty qwertyuiop qwertz azerty asdfghjkl zxcvbnm 1q2w3e4r5t6y
  1qaz2wsx3edc letmein welcome iloveyou sunshine princess football baseball basketball superman batman dragon monkey
  master shadow michael jennifer charlie trustno1 starwars whatever computer internet administrator admin root toor
  changeme change default secret testtest temporary rushhour network firewall cisco juniper security summer winter
  spring autumn monday january abc123 abcdefghijkl 123456789012 correcthorsebatterystaple`.split(/\s+/);

const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');

const isCommon = (password: string) => {
  const bare = plain(password);
  const letters = bare.replace(/^\d+|\d+$/g, '');
  return commonWords.some((word) => bare === word || letters === word || repeats(bare, word) || repeats(letters, word));
};

const repeats = (text: string, unit: string) =>
  text.length > 0 && unit.repeat(Math.ceil(text.length / unit.length)).startsWith(text);

const isMonotonous = (password: string) => {
  const codes = [...password].map((letter) => letter.codePointAt(0) ?? 0);
  const steps = new Set(codes.slice(1).map((code, i) => code - (codes[i] ?? 0)));
  return new Set(codes).size < 5 || steps.size === 1;
};

/** Problems of a new password: length, common passwords, the user's own name. There are no composition rules. */
export const passwordIssues = (
  password: string,
  owner: { email: string; realName: string },
  policy: Settings['auth']['password'],
): Issue[] => {
  const issues: Issue[] = [];
  const add = (code: string, message: string) => issues.push({ path: '/newPassword', code, message });
  const { length } = [...password];
  if (length < policy.minLength) add('TOO_SHORT', `must have at least ${policy.minLength} characters`);
  if (length > longest) add('TOO_LONG', `must have at most ${longest} characters`);
  if (!policy.refuseCommon) return issues;
  const own = [owner.email, owner.email.split('@')[0] ?? '', owner.realName]
    .map(plain)
    .filter((word) => word.length > 3);
  if (own.includes(plain(password))) add('OWN_NAME', 'must not be your name or e-mail address');
  else if (isCommon(password) || isMonotonous(password))
    add('TOO_COMMON', 'is among the passwords that are tried first');
  return issues;
};

const hashAsync = promisify(argon2);
const cost = { memory: 46 * 1024, passes: 2, parallelism: 1, tagLength: 32 } as const;
/** Each hash takes 46 MiB, so only a few run concurrently. */
const limited = createSemaphore(4);

const derive = (password: string, nonce: Buffer) =>
  limited(() => hashAsync('argon2id', { message: password.normalize('NFKC'), nonce, ...cost }));

/** Argon2id, written as `argon2id$<salt>$<hash>`. */
export const hashPassword = async (password: string) => {
  const nonce = randomBytes(16);
  return `argon2id$${nonce.toString('base64url')}$${(await derive(password, nonce)).toString('base64url')}`;
};

/** Takes the same time for a user that does not exist; pass `undefined` for one. */
export const verifyPassword = async (password: string, stored: string | undefined) => {
  const [, nonce = 'AAAAAAAAAAAAAAAAAAAAAA', expected = ''] = (stored ?? '').split('$');
  const actual = await derive(password, Buffer.from(nonce, 'base64url'));
  const wanted = Buffer.from(expected, 'base64url');
  return wanted.length === actual.length && timingSafeEqual(wanted, actual);
};

// Letters and digits that cannot be confused with each other.
const alphabet = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

export const temporaryPassword = (length: number) =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
