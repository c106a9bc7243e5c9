import { isIP } from 'node:net';
import type { Round } from './round.ts';
import { type LocalName, localSamples } from './values.ts';

const shapes: Record<LocalName, RegExp> = {
  clientIp: /[0-9A-Fa-f.:]{2,45}/,
  serverIp: /[0-9A-Fa-f.:]{2,45}/,
  clientPort: /\d{1,5}/,
  serverPort: /\d{1,5}/,
  nowUnix: /\d{10,12}/,
  nowIso: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/,
};

/** Pattern of a step that contains values known only to the peer. */
interface Pattern {
  readonly names: readonly LocalName[];
  readonly regex: RegExp;
  /** Offset of the first byte that does not match. */
  differsAt(bytes: Buffer): number;
}

const begin = '\u0001';
const end = '\u0002';
const marks = new RegExp(`${begin}(\\d+)${end}+`, 'g');

interface PatternPart {
  readonly source: string;
}

const literal = (text: string): PatternPart => ({
  source: text
    .replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
    // A value of a different length changes Content-Length.
    .replace(/(content\\-length:[ \t]*)\d+/gi, '$1\\d+'),
});

/** Renders the step with marks in place of unknown values and builds a regular expression around them. */
export const patternOf = (round: Round, session: number, step: number): Pattern => {
  const names: LocalName[] = [];
  const rendered = round.bytesWith(session, step, (name) => {
    names.push(name);
    return Buffer.from(`${begin}${names.length - 1}`.padEnd(localSamples[name].length, end), 'latin1');
  });
  const text = Buffer.from(rendered.buffer, rendered.byteOffset, rendered.length).toString('latin1');
  const parts: PatternPart[] = [];
  const found: LocalName[] = [];
  let from = 0;
  for (const match of text.matchAll(marks)) {
    const name = names[Number(match[1])] as LocalName;
    parts.push(literal(text.slice(from, match.index)), { source: `(${shapes[name].source}) *` });
    found.push(name);
    from = match.index + match[0].length;
  }
  parts.push(literal(text.slice(from)));
  const regexOf = (count: number) =>
    new RegExp(
      `^${parts
        .slice(0, count)
        .map(({ source }) => source)
        .join('')}`,
      's',
    );
  return {
    names: found,
    regex: regexOf(parts.length),
    differsAt: (bytes) => {
      const arrived = bytes.toString('latin1');
      for (let count = parts.length - 1; count > 0; count--) {
        const reached = regexOf(count).exec(arrived)?.[0].length;
        if (reached !== undefined) return reached;
      }
      return 0;
    },
  };
};

/** The peer's values in a complete step; undefined when the step is incomplete or different. */
export const matchUnknown = (round: Round, session: number, step: number, arrived: Buffer) => {
  const { names, regex } = patternOf(round, session, step);
  const match = regex.exec(arrived.toString('latin1'));
  if (match === null) return undefined;
  const values = names.map((name, index) => [name, match[index + 1] as string] as const);
  const isValid = values.every(([name, value]) => !name.endsWith('Ip') || isIP(value) !== 0);
  return isValid ? { length: match[0].length, values } : undefined;
};
