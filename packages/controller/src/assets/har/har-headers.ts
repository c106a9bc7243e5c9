import type { HarHeader } from '@rushhour/protocol';

/** Access to members of an untrusted document: a missing member or one of another type is undefined. */
export type HarJson = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): HarJson =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as HarJson) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

/** NaN, negative and infinite numbers count as missing. */
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these may not be in a header.
const control = /[\x00-\x08\x0a-\x1f\x7f]/;

/** They concern one connection only, or are made anew from address and body. */
export const framingHeaders: ReadonlySet<string> = new Set(
  'connection keep-alive proxy-connection proxy-authenticate te trailer transfer-encoding upgrade http2-settings content-length host'.split(
    ' ',
  ),
);

/** A header holds bytes; what is beyond Latin-1 travels as UTF-8. */
const asBytes = (value: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of Latin-1.
  /^[\x00-\xff]*$/.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1');

interface CleanHeaders {
  readonly headers: HarHeader[];
  readonly isUnsound: boolean;
}

/** Some browsers write all cookies that are set as lines of one header. */
const linesOf = (name: string, value: string): string[] =>
  name.toLowerCase() === 'set-cookie' ? value.split('\n') : [value.replace(/\r?\n[ \t]*/g, ', ')];

/** Headers that can be sent unchanged. HTTP/2 pseudo-headers are left out: address and status imply them. */
export const cleanHeaders = (written: unknown): CleanHeaders => {
  const headers: HarHeader[] = [];
  let isUnsound = false;
  for (const one of listOf(written).map(objectOf)) {
    const name = textOf(one['name']).trim();
    if (name.startsWith(':') || framingHeaders.has(name.toLowerCase())) continue;
    for (const line of linesOf(name, textOf(one['value']))) {
      const value = asBytes(line.trim());
      if (token.test(name) && !control.test(value)) headers.push({ name, value });
      else isUnsound = true;
    }
  }
  return { headers, isUnsound };
};

export const headerOf = (headers: readonly HarHeader[], name: string): string | undefined =>
  headers.find((header) => header.name.toLowerCase() === name)?.value;

export const withoutHeaders = (headers: readonly HarHeader[], names: ReadonlySet<string>): HarHeader[] =>
  headers.filter(({ name }) => !names.has(name.toLowerCase()));
