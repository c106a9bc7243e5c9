/** A payload in another writing. What is already safe in a URL must not be escaped again. */
export interface Encoded {
  readonly text: string;
  readonly isUrlSafe: boolean;
}

const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

const perUnit = (text: string, write: (code: number) => string): string =>
  [...text].map((letter) => write(letter.codePointAt(0) ?? 0)).join('');

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');

const caseMixed = (text: string): string => {
  let letters = 0;
  return text.replace(/[a-z]/gi, (letter) => (letters++ % 2 === 0 ? letter.toUpperCase() : letter.toLowerCase()));
};

const plain = (text: string): Encoded => ({ text, isUrlSafe: false });

/** Each keeps the meaning after decoding. */
export const encoders: Readonly<Record<string, (text: string) => Encoded>> = {
  plain,
  url: (text) => ({ text: percent(text), isUrlSafe: true }),
  'url-double': (text) => ({ text: percent(percent(text)), isUrlSafe: true }),
  base64: (text) => plain(Buffer.from(text).toString('base64')),
  'base64-flat': (text) => plain(Buffer.from(text).toString('base64').replace(/=+$/, '')),
  'js-unicode': (text) => plain(perUnit(text, (code) => `\\u${hex(code, 4)}`)),
  'html-entity': (text) => plain(perUnit(text, (code) => `&#x${hex(code, 2)};`)),
  'xml-entity': (text) => plain(perUnit(text, (code) => `&#${code};`)),
  utf16le: (text) => plain(Buffer.from(text, 'utf16le').toString('latin1')),
  'case-mix': (text) => plain(caseMixed(text)),
  'comment-split': (text) => plain(text.replaceAll(' ', '/**/')),
};
