import { invalid } from '../../../errors.ts';

export interface Match {
  readonly offset: number;
  readonly length: number;
}

/** Finds where a search holds in the payload of one step; never more than a few places. */
export type Search = (bytes: Buffer) => Match[];

const maxMatches = 100;

const refuse = (message: string) =>
  invalid([{ path: '/search', in: 'query', code: 'BAD_SEARCH', message }], 'BAD_SEARCH');

const findBytes =
  (wanted: Buffer): Search =>
  (bytes) => {
    const matches: Match[] = [];
    for (let at = bytes.indexOf(wanted); at !== -1 && matches.length < maxMatches; at = bytes.indexOf(wanted, at + 1)) {
      matches.push({ offset: at, length: wanted.length });
    }
    return matches;
  };

const findPattern = (source: string): Search => {
  const pattern = compile(source);
  // One letter a byte, so that places in the text are places in the payload.
  return (bytes) =>
    Iterator.from(bytes.toString('latin1').matchAll(pattern))
      .take(maxMatches)
      .map(({ index, 0: { length } }) => ({ offset: index, length }))
      .toArray();
};

const compile = (source: string) => {
  try {
    return new RegExp(source, 'g');
  } catch (error) {
    throw refuse(`is no regular expression: ${(error as Error).message.slice(0, 200)}`);
  }
};

/** Reads a text, `hex:` and bytes, or `re:` and a regular expression. */
export const parseSearch = (text: string): Search => {
  if (text.startsWith('re:')) return findPattern(text.slice(3));
  if (!text.startsWith('hex:')) return findBytes(Buffer.from(text));
  const digits = text.slice(4).replace(/[\s:]/g, '');
  if (!/^([0-9a-f]{2})+$/i.test(digits)) throw refuse('needs pairs of hexadecimal digits behind hex:');
  return findBytes(Buffer.from(digits, 'hex'));
};
