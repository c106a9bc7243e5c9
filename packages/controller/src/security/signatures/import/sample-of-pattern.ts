import { RE2JS } from 're2js';

const maxLength = 200;
const classSample: Readonly<Record<string, string>> = { d: '1', w: 'a', s: ' ', D: 'a', W: '-', S: 'a', b: '', B: '' };
const escapeSample: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * A text that the pattern is found in, where a simple one can be told from the pattern. Patterns run on a linear-time
 * engine; one that it does not take answers `undefined`, like one without a sample.
 */
export const sampleOfPattern = (pattern: string): string | undefined => {
  if (pattern.length > 2000) return undefined;
  try {
    const compiled = RE2JS.compile(pattern);
    const sample = createSampler(pattern.replace(/^\(\?[a-z]+\)/i, ''))();
    return sample !== undefined && sample.length <= maxLength && compiled.matcher(sample).find() ? sample : undefined;
  } catch {
    return undefined;
  }
};

/** Writes the least text: the first alternative, the first member of a class, as few repetitions as allowed. */
const createSampler = (pattern: string) => {
  let at = 0;

  const alternatives = (): string => {
    const first = sequence();
    while (pattern[at] === '|') {
      at += 1;
      sequence();
    }
    return first;
  };

  const sequence = (): string => {
    let text = '';
    while (at < pattern.length && pattern[at] !== '|' && pattern[at] !== ')') text += repeated(atom());
    return text;
  };

  const atom = (): string => {
    const mark = pattern[at] as string;
    at += 1;
    if (mark === '(') return group();
    if (mark === '[') return bracket();
    if (mark === '\\') return escaped();
    if (mark === '.') return 'a';
    return mark === '^' || mark === '$' ? '' : mark;
  };

  const group = (): string => {
    const opening = /^\?(?:P?<\w+>|[a-z]*:)/i.exec(pattern.slice(at));
    if (opening) at += opening[0].length;
    const text = alternatives();
    at += 1;
    return text;
  };

  const escaped = (): string => {
    const mark = pattern[at] ?? '';
    at += 1;
    return classSample[mark] ?? escapeSample[mark] ?? mark;
  };

  const bracket = (): string => {
    const isNegated = pattern[at] === '^';
    if (isNegated) at += 1;
    const from = at;
    while (at < pattern.length && (pattern[at] !== ']' || at === from)) at += pattern[at] === '\\' ? 2 : 1;
    const members = pattern.slice(from, at);
    at += 1;
    if (isNegated) return ['a', '0', '-', ' '].find((candidate) => !members.includes(candidate)) ?? 'a';
    if (members.startsWith('\\')) return classSample[members[1] ?? ''] ?? members[1] ?? '';
    return members[0] ?? '';
  };

  const repeated = (text: string): string => {
    const quantifier = /^(?:([*+?])|\{(\d+)(?:,\d*)?\})\??/.exec(pattern.slice(at));
    if (quantifier === null) return text;
    at += quantifier[0].length;
    if (quantifier[1] !== undefined) return quantifier[1] === '+' ? text : '';
    return text.repeat(Math.min(Number(quantifier[2]), maxLength));
  };

  return () => {
    const text = alternatives();
    return at >= pattern.length ? text : undefined;
  };
};
