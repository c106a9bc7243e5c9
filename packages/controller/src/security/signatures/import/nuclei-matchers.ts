import type { SigResponse } from '@rushhour/contract';
import { RE2JS } from 're2js';
import { listOf, literal, type Members, membersOf, numberOf, textOf, textsOf } from './members.ts';

const maxLength = 200;
const classSample: Readonly<Record<string, string>> = { d: '1', w: 'a', s: ' ', D: 'a', W: '-', S: 'a', b: '', B: '' };
const escapeSample: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * A text that matches the pattern, if a simple one can be derived. Patterns run on a linear-time engine. Undefined for
 * patterns that the engine refuses or that have no sample.
 */
const sampleOfPattern = (pattern: string): string | undefined => {
  if (pattern.length > 2000) return undefined;
  try {
    const compiled = RE2JS.compile(pattern);
    const sample = new PatternSampler(pattern.replace(/^\(\?[a-z]+\)/i, '')).sample();
    return sample !== undefined && sample.length <= maxLength && compiled.matcher(sample).find() ? sample : undefined;
  } catch {
    return undefined;
  }
};

/** Writes a shortest text: the first alternative, the first member of a class, as few repetitions as allowed. */
class PatternSampler {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  #alternatives(): string {
    const first = this.#sequence();
    while (this.#pattern[this.#at] === '|') {
      this.#at += 1;
      this.#sequence();
    }
    return first;
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== '|' && this.#pattern[this.#at] !== ')')
      text += this.#repeated(this.#atom());
    return text;
  }

  #atom(): string {
    const mark = this.#pattern[this.#at] as string;
    this.#at += 1;
    if (mark === '(') return this.#group();
    if (mark === '[') return this.#bracket();
    if (mark === '\\') return this.#escaped();
    if (mark === '.') return 'a';
    return mark === '^' || mark === '$' ? '' : mark;
  }

  #group(): string {
    const opening = /^\?(?:P?<\w+>|[a-z]*:)/i.exec(this.#pattern.slice(this.#at));
    if (opening) this.#at += opening[0].length;
    const text = this.#alternatives();
    this.#at += 1;
    return text;
  }

  #escaped(): string {
    const mark = this.#pattern[this.#at] ?? '';
    this.#at += 1;
    return classSample[mark] ?? escapeSample[mark] ?? mark;
  }

  #bracket(): string {
    const isNegated = this.#pattern[this.#at] === '^';
    if (isNegated) this.#at += 1;
    const from = this.#at;
    while (this.#at < this.#pattern.length && (this.#pattern[this.#at] !== ']' || this.#at === from))
      this.#at += this.#pattern[this.#at] === '\\' ? 2 : 1;
    const members = this.#pattern.slice(from, this.#at);
    this.#at += 1;
    if (isNegated) return ['a', '0', '-', ' '].find((candidate) => !members.includes(candidate)) ?? 'a';
    if (members.startsWith('\\')) return classSample[members[1] ?? ''] ?? members[1] ?? '';
    return members[0] ?? '';
  }

  #repeated(text: string): string {
    const quantifier = /^(?:([*+?])|\{(\d+)(?:,\d*)?\})\??/.exec(this.#pattern.slice(this.#at));
    if (quantifier === null) return text;
    this.#at += quantifier[0].length;
    if (quantifier[1] !== undefined) return quantifier[1] === '+' ? text : '';
    return text.repeat(Math.min(Number(quantifier[2]), maxLength));
  }

  /** Undefined when the pattern has more than a sampler understands. */
  sample(): string | undefined {
    const text = this.#alternatives();
    return this.#at >= this.#pattern.length ? text : undefined;
  }
}

interface Synthesis {
  status: number | undefined;
  headers: { name: string; value: string }[];
  body: string[];
}

/**
 * The answer with which the template reports the vulnerability, derived from its matchers. It never affects verdicts.
 */
export const answerFromMatchers = (
  block: Members,
  requestIdx: number,
  warn: (warning: string) => void,
): SigResponse | undefined => {
  const matchers = listOf(block['matchers']).map(membersOf);
  const made: Synthesis = { status: undefined, headers: [], body: [] };
  for (const matcher of matchers) {
    if (matcher['negative'] === true) continue;
    take(made, matcher, warn);
  }
  if (made.status === undefined && made.headers.length === 0 && made.body.length === 0) return undefined;
  return {
    idx: requestIdx,
    when: { requestIdx },
    mode: 'synthesised',
    status: made.status ?? 200,
    headers: made.headers.slice(0, 100),
    body: made.body.join('\n').slice(0, 65_536),
  };
};

const take = (made: Synthesis, matcher: Members, warn: (warning: string) => void) => {
  const part = textOf(matcher['part']) || 'body';
  const add = (text: string) => {
    if (/header|content_type|location/i.test(part)) made.headers.push(headerOf(text, part));
    else made.body.push(literal(text));
  };
  const isAny = textOf(matcher['condition']) !== 'and';
  const few = <T>(items: readonly T[]) => (isAny ? items.slice(0, 1) : items);
  switch (textOf(matcher['type'])) {
    case 'status': {
      const status = numberOf(listOf(matcher['status'])[0]);
      if (status !== undefined && status >= 200 && status <= 599) made.status ??= Math.trunc(status);
      return;
    }
    case 'word':
      for (const word of few(textsOf(matcher['words']))) add(word);
      return;
    case 'regex':
      for (const pattern of few(textsOf(matcher['regex']))) {
        const sample = sampleOfPattern(pattern);
        if (sample === undefined) warn(`no answer can be made from the pattern ${pattern.slice(0, 80)}`);
        else add(sample);
      }
      return;
    case 'dsl':
      takeConditions(made, textsOf(matcher['dsl']), warn);
      return;
    default:
      warn(`matchers of type ${textOf(matcher['type']).slice(0, 20) || 'none'} make no answer`);
  }
};

/** `Name: value` is taken unchanged; other words are put into a header where the matcher finds them. */
const headerOf = (word: string, part: string) => {
  const [, name, value] = /^([A-Za-z0-9-]+):\s*([^\r\n]*)$/.exec(word.trim()) ?? [];
  if (name !== undefined && value !== undefined) return { name, value: literal(value) };
  const isType = /content_type/.test(part) || /^[a-z]+\/[a-z0-9.+-]+/i.test(word);
  return {
    name: isType ? 'Content-Type' : /location/.test(part) ? 'Location' : 'X-Powered-By',
    value: literal(word.replace(/[\r\n]+/g, ' ')),
  };
};

/** The two supported conditions: a status, and a text in the body. */
const takeConditions = (made: Synthesis, conditions: readonly string[], warn: (warning: string) => void) => {
  for (const condition of conditions) {
    const status = /\bstatus_code(?:_\d+)?\s*==\s*(\d{3})\b/.exec(condition)?.[1];
    const words = [
      ...condition.matchAll(
        /contains(?:_all|_any)?\(\s*(?:to_lower\()?(?:body|response|all)(?:_\d+)?\)?\s*,\s*(["'])(.*?)\1/g,
      ),
    ];
    if (status !== undefined) made.status ??= Number(status);
    for (const [, , word = ''] of words) made.body.push(literal(word));
    if (status === undefined && words.length === 0)
      warn(`no answer can be made from the condition ${condition.slice(0, 80)}`);
  }
};
