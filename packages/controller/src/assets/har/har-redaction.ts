import { hash } from 'node:crypto';
import type { HarHeader, HarTemplate } from '@rushhour/protocol';

/** A value that is put in when a request is sent. */
export type Placed = Exclude<HarTemplate[number], string>;

// Private-use characters, which do not occur in traffic and are invalid in headers. Digits use them too, so that no text
// that is searched for matches inside a mark.
const [open, shut] = ['\uE000', '\uE001'];
const mark = /\uE000([\uE100-\uE109]+)\uE001/;
const firstDigit = 0xe100;

const digitsOf = (number: number): string =>
  [...String(number)].map((digit) => String.fromCharCode(firstDigit + Number(digit))).join('');
const numberOf = (digits: string): number =>
  Number([...digits].map((digit) => digit.charCodeAt(0) - firstDigit).join(''));

const isMarked = (text: string): boolean => mark.test(text);

/**
 * Marks where values go in the parts of one request, so that what happens to the text in between leaves them alone.
 */
export class HarMarks {
  readonly #placed: Placed[] = [];

  /** Marks every occurrence of one of the spellings; undefined when there is none. */
  put(text: string, spellings: readonly { find: string; as: Placed['as'] }[], slot: number): string | undefined {
    const spelling = spellings.find(({ find }) => find !== '' && text.includes(find));
    if (spelling === undefined) return undefined;
    const number = this.#placed.push({ slot, or: spelling.find, as: spelling.as }) - 1;
    return text.split(spelling.find).join(`${open}${digitsOf(number)}${shut}`);
  }

  templateOf(text: string): HarTemplate {
    const parts = text.split(mark);
    const template = parts.map((part, i) => (i % 2 === 0 ? part : (this.#placed[numberOf(part)] ?? part)));
    return template.filter((part) => part !== '');
  }

  /** The text with the recorded values instead of the marks. */
  recordedOf(text: string): string {
    return this.templateOf(text)
      .map((part) => (typeof part === 'string' ? part : part.or))
      .join('');
  }
}

const secretHeaders = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'x-auth-token', 'x-access-token']);
const addressHeaders = new Set(['referer', 'location', 'content-location']);
const secretParameters =
  /token|secret|passw|^(pwd|pass|auth|authorization|api[-_]?key|apikey|key|jwt|sid|session([-_]?id)?|sig|signature|x-amz-(signature|credential)|code|assertion|samlresponse)$/i;

const hexOf = (value: string): string => hash('sha256', `har ${value}`, 'hex');

/** A replacement of the same length, equal for equal secrets, so that related values stay related. */
const masked = (value: string): string => {
  if (value === '' || isMarked(value)) return value;
  let text = '';
  for (let part = hexOf(value); text.length < value.length; part = hexOf(part)) text += part;
  return text.slice(0, value.length);
};

/** `name=value` with another value; what has no value stays. */
const maskedPair = (pair: string): string => {
  const at = pair.indexOf('=');
  return at < 0 ? pair : `${pair.slice(0, at + 1)}${masked(pair.slice(at + 1))}`;
};

const maskedCookies = (value: string): string => value.split('; ').map(maskedPair).join('; ');

const maskedSetCookie = (value: string): string => {
  const [pair = '', ...attributes] = value.split(';');
  return [maskedPair(pair), ...attributes].join(';');
};

/** The scheme stays, such as `Bearer`. */
const maskedCredential = (value: string): string => {
  const at = value.indexOf(' ');
  return at < 0 ? masked(value) : `${value.slice(0, at + 1)}${masked(value.slice(at + 1))}`;
};

/** An address, or path and query, whose tokens are others. */
export const maskedAddress = (address: string): string =>
  address.replace(/([?&;#])([^=&;#]+)=([^&;#]*)/g, (whole, before: string, name: string, value: string) =>
    secretParameters.test(name) ? `${before}${name}=${masked(value)}` : whole,
  );

/** A header whose credentials are others. */
export const maskedHeader = ({ name, value }: HarHeader): HarHeader => {
  const lower = name.toLowerCase();
  if (lower === 'cookie') return { name, value: maskedCookies(value) };
  if (lower === 'set-cookie') return { name, value: maskedSetCookie(value) };
  if (secretHeaders.has(lower)) return { name, value: maskedCredential(value) };
  return addressHeaders.has(lower) ? { name, value: maskedAddress(value) } : { name, value };
};
