import { TemplateError } from './template-error.ts';

/** What may stand between `{{` and `}}`: a name, a text, a number, or a function of such. */
export type Expression =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] };

const maxDepth = 16;
const token =
  /\s*(?:(?<name>[A-Za-z_][A-Za-z0-9_-]*)|(?<number>-?\d+(?:\.\d+)?)|"(?<double>(?:[^"\\]|\\.)*)"|'(?<single>(?:[^'\\]|\\.)*)'|(?<mark>[(),]))/y;

interface Token {
  readonly kind: 'name' | 'number' | 'text' | 'mark';
  readonly value: string;
}

const tokensOf = (source: string): Token[] => {
  const tokens: Token[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < source.trimEnd().length) {
    const at = token.lastIndex;
    const { groups } = token.exec(source) ?? {};
    if (groups === undefined) {
      const rest = source.slice(at, at + 20);
      throw new TemplateError('BAD_EXPRESSION', `cannot read the expression at ${JSON.stringify(rest)}`);
    }
    const { name, number, double, single, mark } = groups;
    const quoted = double ?? single;
    if (name !== undefined) tokens.push({ kind: 'name', value: name });
    else if (number !== undefined) tokens.push({ kind: 'number', value: number });
    else if (quoted !== undefined) tokens.push({ kind: 'text', value: unescaped(quoted) });
    else tokens.push({ kind: 'mark', value: mark ?? '' });
  }
  return tokens;
};

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', 0: '\0' };

const unescaped = (text: string) =>
  text.replace(/\\(x[0-9a-fA-F]{2}|.)/gs, (_, code: string) =>
    code.length === 3 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (escapes[code] ?? code),
  );

/** Reads one expression; anything else, such as operators, is refused. */
export const parseExpression = (source: string): Expression => {
  const tokens = tokensOf(source);
  let position = 0;
  const isMark = (mark: string) => tokens[position]?.kind === 'mark' && tokens[position]?.value === mark;

  const argumentsOf = (depth: number): Expression[] => {
    const args: Expression[] = [];
    position += 1;
    while (!isMark(')')) {
      if (args.length > 0) {
        if (!isMark(',')) throw new TemplateError('BAD_EXPRESSION', `the call in ${shown(source)} has no end`);
        position += 1;
      }
      args.push(parse(depth + 1));
    }
    position += 1;
    return args;
  };

  const parse = (depth: number): Expression => {
    const next = tokens[position];
    if (depth > maxDepth) throw new TemplateError('BAD_EXPRESSION', `calls are nested more than ${maxDepth} deep`);
    if (next === undefined || next.kind === 'mark') {
      throw new TemplateError('BAD_EXPRESSION', `${shown(source)} is no expression`);
    }
    position += 1;
    if (next.kind === 'text') return { kind: 'text', value: next.value };
    if (next.kind === 'number') return { kind: 'number', value: Number(next.value) };
    return isMark('(')
      ? { kind: 'call', name: next.value, args: argumentsOf(depth) }
      : { kind: 'name', name: next.value };
  };

  const expression = parse(0);
  if (position < tokens.length)
    throw new TemplateError('BAD_EXPRESSION', `operators are not allowed in ${shown(source)}`);
  return expression;
};

const shown = (source: string) => JSON.stringify(source.length > 60 ? `${source.slice(0, 60)}…` : source);
