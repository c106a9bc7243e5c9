import { createHash, createHmac } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import type { SeededBytes } from './seeded-bytes.ts';
import { TemplateError } from './template-error.ts';

/** Most bytes that one message may become. */
export const maxMessageBytes = 1_048_576;

const lower = 'abcdefghijklmnopqrstuvwxyz';
const letters = lower + lower.toUpperCase();
const digits = '0123456789';

type Arguments = readonly Buffer[];
type Call = (args: Arguments, chance: SeededBytes) => Buffer | string;

const textOf = (value: Buffer | undefined, otherwise = '') =>
  value === undefined ? otherwise : value.toString('utf8');
const numberOf = (value: Buffer | undefined, otherwise: number) => {
  const number = value === undefined ? otherwise : Number(value.toString('utf8'));
  if (!Number.isFinite(number)) throw new TemplateError('BAD_ARGUMENT', 'an argument of a function is no number');
  return Math.trunc(number);
};

const lengthOf = (value: Buffer | undefined, otherwise: number) => {
  const length = numberOf(value, otherwise);
  if (length < 0 || length > maxMessageBytes) {
    throw new TemplateError('PAYLOAD_TOO_LARGE', `a function makes ${length} bytes; the maximum is ${maxMessageBytes}`);
  }
  return length;
};

const randomText =
  (alphabet: string, defaultLength: number): Call =>
  ([length], chance) =>
    chance.text(alphabet, lengthOf(length, defaultLength));

const hash =
  (algorithm: string): Call =>
  ([value]) =>
    createHash(algorithm)
      .update(value ?? '')
      .digest('hex');

const encoded =
  (encoding: 'base64' | 'hex'): Call =>
  ([value]) =>
    (value ?? Buffer.alloc(0)).toString(encoding);
const decoded =
  (encoding: 'base64' | 'hex'): Call =>
  ([value]) =>
    Buffer.from(textOf(value), encoding);

/** Everything but letters and digits, as browsers never do and attackers often. */
const urlEncoded = (value: Buffer) =>
  [...value]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9_.~-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
    })
    .join('');

/** Letters that segments of a path may hold stay as they are. */
const pathEscaped = (value: Buffer) =>
  urlEncoded(value).replaceAll(/%(24|26|2B|3D|3A|40)/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );

const urlDecoded = (text: string) =>
  Buffer.from(
    text
      .replaceAll('+', ' ')
      .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

const repeated: Call = ([value, times]) => {
  const count = lengthOf(times, 1);
  const bytes = (value?.length ?? 0) * count;
  if (bytes > maxMessageBytes) {
    throw new TemplateError('PAYLOAD_TOO_LARGE', `repeat makes ${bytes} bytes; the maximum is ${maxMessageBytes}`);
  }
  return Buffer.concat(Array.from({ length: count }, () => value ?? Buffer.alloc(0)));
};

/** The functions that templates may call. Everything else, above all what runs programs, is refused. */
export const functions: ReadonlyMap<string, Call> = new Map<string, Call>([
  ['randstr', randomText(letters + digits, 27)],
  ['rand_base', ([length, alphabet], chance) => chance.text(textOf(alphabet, letters + digits), lengthOf(length, 8))],
  ['rand_char', ([alphabet], chance) => chance.text(textOf(alphabet, letters + digits), 1)],
  ['rand_text_alpha', randomText(letters, 8)],
  ['rand_text_alphanumeric', randomText(letters + digits, 8)],
  ['rand_text_numeric', randomText(digits, 8)],
  ['randAlphaNum', randomText(letters + digits, 8)],
  [
    'rand_int',
    ([from, to], chance) => {
      const min = numberOf(from, 0);
      return String(min + chance.below(Math.max(1, numberOf(to, 2 ** 31) - min)));
    },
  ],
  ['base64', encoded('base64')],
  ['base64_decode', decoded('base64')],
  ['hex_encode', encoded('hex')],
  ['hex_decode', decoded('hex')],
  ['url_encode', ([value]) => urlEncoded(value ?? Buffer.alloc(0))],
  ['path_escape', ([value]) => pathEscaped(value ?? Buffer.alloc(0))],
  ['url_decode', ([value]) => urlDecoded(textOf(value))],
  ['html_escape', ([value]) => textOf(value).replace(/[&<>"']/g, (mark) => entities[mark] ?? mark)],
  ['md5', hash('md5')],
  ['sha1', hash('sha1')],
  ['sha256', hash('sha256')],
  ['sha512', hash('sha512')],
  ['to_lower', ([value]) => textOf(value).toLowerCase()],
  ['to_upper', ([value]) => textOf(value).toUpperCase()],
  ['to_string', ([value]) => textOf(value)],
  ['to_number', ([value]) => String(numberOf(value, 0))],
  ['trim', ([value, marks]) => (marks ? trimmed(textOf(value), textOf(marks)) : textOf(value).trim())],
  ['trim_space', ([value]) => textOf(value).trim()],
  ['reverse', ([value]) => [...textOf(value)].reverse().join('')],
  ['repeat', repeated],
  ['replace', ([value, from, to]) => textOf(value).replaceAll(textOf(from), textOf(to))],
  ['concat', (args) => Buffer.concat(args)],
  ['randbase', ([length, alphabet], chance) => chance.text(textOf(alphabet, letters + digits), lengthOf(length, 8))],
  ['url_encode_all', ([value]) => [...(value ?? [])].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')],
  ['trim_prefix', ([value, start]) => withoutStart(textOf(value), textOf(start))],
  ['trimprefix', ([value, start]) => withoutStart(textOf(value), textOf(start))],
  ['trim_suffix', ([value, end]) => withoutEnd(textOf(value), textOf(end))],
  ['trimsuffix', ([value, end]) => withoutEnd(textOf(value), textOf(end))],
  ['trim_left', ([value, marks]) => trimmed(`${textOf(value)}\0`, textOf(marks)).slice(0, -1)],
  ['join', ([mark, ...parts]) => parts.map((part) => textOf(part)).join(textOf(mark))],
  ['dec_to_hex', ([value]) => numberOf(value, 0).toString(16)],
  ['hex_to_dec', ([value]) => String(Number.parseInt(textOf(value), 16))],
  ['padding', ([value, pad, length, side]) => padded(textOf(value), textOf(pad), lengthOf(length, 0), textOf(side))],
  ['hmac', ([algorithm, value, key]) => keyedHash(textOf(algorithm), value, key)],
  // Time stands still, so that the same signature sends the same bytes each time.
  ['unix_time', ([more]) => String(fixedTime + numberOf(more, 0))],
  ['date_time', () => new Date(fixedTime * 1000).toISOString()],
  ['wait_for', () => ''],
  ['print_debug', () => ''],
  [
    'html_unescape',
    ([value]) => textOf(value).replace(/&(amp|lt|gt|quot|#34|#39);/g, (mark) => unescapes[mark] ?? mark),
  ],
  ['gzip', ([value]) => gzipSync(value ?? '')],
  ['zlib', ([value]) => deflateSync(value ?? '')],
  ['len', ([value]) => String(value?.length ?? 0)],
]);

const fixedTime = 1_735_689_600;
const unescapes: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' },
  ...{ '&#34;': '"', '&#39;': "'" },
};

const withoutStart = (text: string, start: string) => (text.startsWith(start) ? text.slice(start.length) : text);
const withoutEnd = (text: string, end: string) => (text.endsWith(end) ? text.slice(0, text.length - end.length) : text);
const padded = (text: string, pad: string, length: number, side: string) =>
  side === 'suffix' ? text.padEnd(length, pad) : text.padStart(length, pad);

const keyedHash = (algorithm: string, value: Buffer | undefined, key: Buffer | undefined) => {
  const name = ['md5', 'sha1', 'sha256', 'sha512'].find((known) => known === algorithm);
  if (name === undefined) throw new TemplateError('BAD_ARGUMENT', `hmac knows no ${algorithm.slice(0, 20)}`);
  return createHmac(name, key ?? '')
    .update(value ?? '')
    .digest('hex');
};

const trimmed = (text: string, marks: string) => {
  let [from, to] = [0, text.length];
  while (from < to && marks.includes(text[from] ?? '')) from += 1;
  while (to > from && marks.includes(text[to - 1] ?? '')) to -= 1;
  return text.slice(from, to);
};
