import { type ValueEncoding, viewsOf } from './decoded-views.ts';

export interface Pattern {
  readonly pattern: string;
  readonly type: 'text' | 'hex' | 'regex';
  readonly encodings: readonly ValueEncoding[];
}

export interface Match {
  readonly offset: number;
  readonly length: number;
  readonly exact: boolean;
  readonly encoding: ValueEncoding;
}

export const allEncodings: readonly ValueEncoding[] = ['plain', 'url', 'base64', 'hex', 'utf16le'];

type Search = (text: string) => Iterable<{ start: number; end: number }>;

/** Compiles a pattern once; throws a SyntaxError with a sentence for what is no pattern. */
export const createFinder = ({ pattern, type, encodings }: Pattern) => {
  const search = searchFor(pattern, type);
  const wanted = allEncodings.filter((encoding) => encodings.includes(encoding));
  const wide = type === 'text' && wanted.includes('utf16le') ? Buffer.from(pattern, 'utf16le') : undefined;
  /** Every occurrence in a step, by offset; of several encodings that match a range, the simplest is reported. */
  return (step: Uint8Array, limit: number): Match[] => {
    const found = new Map<string, Match>();
    for (const encoding of wanted) {
      for (const match of encoding === 'utf16le' && wide
        ? wideMatches(step, wide)
        : matchesIn(step, encoding, search)) {
        if (found.size >= limit) return inOrder(found);
        const key = `${match.offset} ${match.length}`;
        if (match.length > 0 && !found.has(key)) found.set(key, match);
      }
    }
    return inOrder(found);
  };
};

const inOrder = (found: Map<string, Match>) =>
  [...found.values()].sort((left, right) => left.offset - right.offset || left.length - right.length);

function* matchesIn(step: Uint8Array, encoding: ValueEncoding, search: Search): Generator<Match> {
  for (const view of viewsOf(encoding, step)) {
    for (const { start, end } of search(view.text)) yield { ...view.locate(start, end), encoding };
  }
}

function* wideMatches(step: Uint8Array, needle: Buffer): Generator<Match> {
  const bytes = Buffer.from(step.buffer, step.byteOffset, step.length);
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length)) {
    yield { offset: at, length: needle.length, exact: true, encoding: 'utf16le' };
  }
}

const searchFor = (pattern: string, type: Pattern['type']): Search => {
  if (type === 'regex') return regexSearch(new RegExp(pattern, 'g'));
  if (type === 'text') return literalSearch(Buffer.from(pattern, 'utf8').toString('latin1'));
  const digits = pattern.replace(/[\s:]/g, '');
  if (digits === '' || digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) {
    throw new SyntaxError(`"${pattern}" is not hexadecimal`);
  }
  return literalSearch(Buffer.from(digits, 'hex').toString('latin1'));
};

const literalSearch = (needle: string): Search =>
  function* (text) {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
      yield { start: at, end: at + needle.length };
    }
  };

// A pattern may never finish, so callers run this in a thread that can be terminated.
const regexSearch = (regex: RegExp): Search =>
  function* (text) {
    for (const match of text.matchAll(regex)) yield { start: match.index, end: match.index + match[0].length };
  };
