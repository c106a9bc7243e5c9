/** `%d %x %X %o %b` print whole numbers, `%f` numbers, `%s` texts; flags `0` and `-`, a width, for `%f` a precision. */
const directive = /%(?:%|([-0]?)(\d{0,3})(?:\.(\d{1,2}))?([dxXobsf]))/g;

export type FormatValue = bigint | number | string;
export type Format = (value: FormatValue) => string;

/** Directives that fit a kind of value. */
export const formatDirectives = { integer: 'dxXobs', float: 'fs', text: 's' } as const;

/** Undefined if the format has no directive or an unsuitable one. */
export function findFormat(text: string, allowed: string): Format | undefined {
  const used = [...text.matchAll(directive)].filter((match) => match[4] !== undefined);
  const hasStray = text.replace(directive, '').includes('%');
  if (used.length === 0 || hasStray || used.some((match) => !allowed.includes(match[4] ?? ''))) return undefined;
  return (value) =>
    text.replace(directive, (whole, flag: string, width: string, precision: string | undefined, letter: string) =>
      whole === '%%' ? '%' : padded(printed(value, letter, precision), flag, Number(width)),
    );
}

const radixOf: Readonly<Record<string, number>> = { x: 16, X: 16, o: 8, b: 2 };

function printed(value: FormatValue, letter: string, precision: string | undefined): string {
  if (letter === 'f') return Number(value).toFixed(Number(precision ?? 6));
  const radix = radixOf[letter];
  const text = radix === undefined || typeof value === 'string' ? String(value) : value.toString(radix);
  return letter === 'X' ? text.toUpperCase() : text;
}

function padded(text: string, flag: string, width: number): string {
  if (flag === '-') return text.padEnd(width);
  if (flag !== '0') return text.padStart(width);
  return text.startsWith('-') ? `-${text.slice(1).padStart(width - 1, '0')}` : text.padStart(width, '0');
}

const dateParts: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getUTCFullYear()).padStart(4, '0'),
  m: (date) => String(date.getUTCMonth() + 1).padStart(2, '0'),
  d: (date) => String(date.getUTCDate()).padStart(2, '0'),
  H: (date) => String(date.getUTCHours()).padStart(2, '0'),
  M: (date) => String(date.getUTCMinutes()).padStart(2, '0'),
  S: (date) => String(date.getUTCSeconds()).padStart(2, '0'),
  L: (date) => String(date.getUTCMilliseconds()).padStart(3, '0'),
  s: (date) => String(Math.floor(date.getTime() / 1000)),
  '%': () => '%',
};

/** `%Y %m %d %H %M %S`, `%L` milliseconds, `%s` seconds since 1970; all in UTC. */
export function findDateFormat(text: string): ((epochMs: number) => string) | undefined {
  const letters = [...text.matchAll(/%(.?)/gs)].map((match) => match[1] ?? '');
  if (!letters.some((letter) => letter !== '%') || !letters.every((letter) => Object.hasOwn(dateParts, letter))) {
    return undefined;
  }
  return (epochMs) => {
    const date = new Date(epochMs);
    return text.replace(/%(.)/gs, (_whole, letter: string) => dateParts[letter]?.(date) ?? '');
  };
}
