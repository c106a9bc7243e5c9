import { CertificateError } from '../certificate-error.ts';

export interface NameAttribute {
  readonly type: string;
  readonly value: string;
}

const hexPair = /^[0-9A-Fa-f]{2}/;

interface Cursor {
  readonly text: string;
  at: number;
}

/** Splits RFC 4514 text into relative names and their attributes, in the order written. */
export function splitDistinguishedName(text: string): NameAttribute[][] {
  const parts: NameAttribute[][] = [];
  if (text.trim() === '') return parts;
  const cursor: Cursor = { text, at: 0 };
  let separator = ',';
  while (separator !== '') {
    const attribute = { type: takeType(cursor), value: takeValue(cursor) };
    if (separator === '+') parts.at(-1)?.push(attribute);
    else parts.push([attribute]);
    separator = cursor.text.charAt(cursor.at++);
  }
  return parts;
}

function takeType(cursor: Cursor): string {
  const equals = cursor.text.indexOf('=', cursor.at);
  const type = equals === -1 ? '' : cursor.text.slice(cursor.at, equals).trim();
  if (!/^[A-Za-z0-9.-]+$/.test(type)) {
    throw syntaxError(`expected an attribute such as CN= at character ${cursor.at + 1}`);
  }
  cursor.at = equals + 1;
  return type;
}

function takeValue(cursor: Cursor): string {
  while (cursor.text[cursor.at] === ' ') cursor.at++;
  if (cursor.text[cursor.at] === '#') throw syntaxError('values in hexadecimal BER are not supported');
  return cursor.text[cursor.at] === '"' ? takeQuoted(cursor) : takePlain(cursor);
}

function takePlain(cursor: Cursor): string {
  const bytes: Buffer[] = [];
  let trailingSpaces = 0;
  for (let next = cursor.text[cursor.at]; next && next !== ',' && next !== '+'; next = cursor.text[cursor.at]) {
    if (/[";<>]/.test(next)) throw syntaxError(`${next} at character ${cursor.at + 1} must be escaped`);
    trailingSpaces = next === ' ' ? trailingSpaces + 1 : 0;
    bytes.push(takeCharacter(cursor));
  }
  return decode(bytes.slice(0, bytes.length - trailingSpaces));
}

function takeQuoted(cursor: Cursor): string {
  const bytes: Buffer[] = [];
  cursor.at++;
  while (cursor.text[cursor.at] !== '"') {
    if (cursor.at >= cursor.text.length) throw syntaxError('a quoted value has no end');
    bytes.push(takeCharacter(cursor));
  }
  cursor.at++;
  while (cursor.text[cursor.at] === ' ') cursor.at++;
  if (!['', ',', '+'].includes(cursor.text.charAt(cursor.at))) {
    throw syntaxError(`expected a comma at character ${cursor.at + 1}`);
  }
  return decode(bytes);
}

function takeCharacter(cursor: Cursor): Buffer {
  const next = String.fromCodePoint(cursor.text.codePointAt(cursor.at) ?? 0);
  if (next !== '\\') {
    cursor.at += next.length;
    return Buffer.from(next);
  }
  const hex = hexPair.exec(cursor.text.slice(cursor.at + 1, cursor.at + 3))?.[0];
  if (hex) {
    cursor.at += 3;
    return Buffer.from(hex, 'hex');
  }
  const escaped = cursor.text.charAt(cursor.at + 1);
  if (!/^[ "#+,;<=>\\]$/.test(escaped)) throw syntaxError(`unknown escape at character ${cursor.at + 1}`);
  cursor.at += 2;
  return Buffer.from(escaped);
}

function decode(bytes: readonly Buffer[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(bytes));
  } catch (cause) {
    throw new CertificateError('BAD_SUBJECT', '/generate/subject', 'a value is not valid UTF-8', { cause });
  }
}

function syntaxError(message: string): CertificateError {
  return new CertificateError('BAD_SUBJECT', '/generate/subject', `the subject is not RFC 4514: ${message}`);
}
