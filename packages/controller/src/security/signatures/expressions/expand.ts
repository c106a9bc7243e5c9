import { functions, maxMessageBytes } from './functions.ts';
import { seededBytes } from './seeded-bytes.ts';
import { TemplateError } from './template-error.ts';

/** What may stand between `{{` and `}}`: a name, a text, a number, or a function of such. */
type Expression =
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
const parseExpression = (source: string): Expression => {
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

/** What `{{…}}` may refer to while one attempt is made. */
export interface Scope {
  /** Values of the attempt's payloads and of the target, as they are. */
  readonly values: ReadonlyMap<string, Buffer>;
  /** Variables of the signature: expressions themselves. */
  readonly variables: Readonly<Record<string, string>>;
  /** What random values follow from. */
  readonly seed: string;
}

const maxNesting = 8;
const braces = '{{"{{"}}';

interface Placeholder {
  readonly index: number;
  readonly end: number;
  readonly source: string;
}

/** The end of a placeholder that begins before `from`: the closing braces of its own, not of one inside it. */
const endOf = (template: string, from: number): number => {
  for (let [at, depth] = [from, 1]; ; at += 2) {
    const [opens, closes] = [template.indexOf('{{', at), template.indexOf('}}', at)];
    if (closes < 0 || depth > maxNesting) return template.indexOf('}}', from);
    const isOpening = opens >= 0 && opens < closes;
    depth += isOpening ? 1 : -1;
    at = isOpening ? opens : closes;
    if (depth === 0) return at;
  }
};

/** Every `{{…}}` of a text; one may hold others, which are replaced first. */
function* placeholdersIn(template: string): Generator<Placeholder> {
  for (let at = template.indexOf('{{'); at >= 0; ) {
    const isBraces = template.startsWith(braces, at);
    const closes = isBraces ? at + braces.length - 2 : endOf(template, at + 2);
    if (closes < 0) return;
    yield { index: at, end: closes + 2, source: template.slice(at + 2, closes) };
    at = template.indexOf('{{', closes + 2);
  }
}

const createExpansion = (scope: Scope) => {
  const known = new Map<string, Buffer>();
  /** Variables being replaced: one that names itself stands for a random text. */
  const pending: string[] = [];
  return { ...scope, known, pending };
};
type Expansion = ReturnType<typeof createExpansion>;

const random = (expansion: Expansion, name: string) => seededBytes(`${expansion.seed}/${name}`);

const lookUp = (expansion: Expansion, name: string, nesting: number): Buffer => {
  const { known } = expansion;
  const given = expansion.values.get(name) ?? known.get(name);
  if (given !== undefined) return given;
  const isOwn = expansion.pending.at(-1) === name;
  if (Object.hasOwn(expansion.variables, name) && !isOwn) {
    expansion.pending.push(name);
    const value = expandAt(expansion, expansion.variables[name] ?? '', nesting + 1);
    expansion.pending.pop();
    known.set(name, value);
    return value;
  }
  // `randstr`, `randstr_1`, …: each name keeps its text during the attempt.
  const value =
    isOwn || /^randstr(_\w+)?$/.test(name)
      ? Buffer.from(random(expansion, name).text(alphanumeric, 27))
      : callOf(expansion, name, []);
  known.set(name, value);
  return value;
};

const callOf = (expansion: Expansion, name: string, args: readonly Buffer[]): Buffer => {
  const call = functions.get(name);
  if (call === undefined) {
    const what = args.length > 0 ? `the function ${name} is not allowed` : `{{${name}}} is not known`;
    throw new TemplateError('FUNCTION_NOT_ALLOWED', what);
  }
  const key = `${name}(${args.map((arg) => arg.toString('base64')).join()})`;
  const result = call(args, random(expansion, key));
  return typeof result === 'string' ? Buffer.from(result) : result;
};

const resultOf = (expansion: Expansion, expression: Expression, nesting: number): Buffer => {
  switch (expression.kind) {
    case 'text':
      return Buffer.from(expression.value);
    case 'number':
      return Buffer.from(String(expression.value));
    case 'name':
      return lookUp(expansion, expression.name, nesting);
    default:
      return callOf(
        expansion,
        expression.name,
        expression.args.map((argument) => resultOf(expansion, argument, nesting)),
      );
  }
};

const expandAt = (expansion: Expansion, template: string, nesting: number): Buffer => {
  if (nesting > maxNesting) throw new TemplateError('BAD_EXPRESSION', 'variables refer to each other without end');
  if (!template.includes('{{')) return Buffer.from(template);
  const parts: Buffer[] = [];
  let [end, bytes] = [0, 0];
  const add = (part: Buffer) => {
    bytes += part.length;
    if (bytes > maxMessageBytes) {
      throw new TemplateError('PAYLOAD_TOO_LARGE', `a message has more than ${maxMessageBytes} bytes`);
    }
    parts.push(part);
  };
  for (const found of placeholdersIn(template)) {
    add(Buffer.from(template.slice(end, found.index)));
    const isNested = found.source.includes('{{') && found.source !== '"{{"';
    const source = isNested ? expandAt(expansion, found.source, nesting + 1).toString() : found.source;
    add(resultOf(expansion, parseExpression(source), nesting));
    end = found.end;
  }
  add(Buffer.from(template.slice(end)));
  return Buffer.concat(parts);
};

const maxSource = 2000;
const targetNames = new Set(['BaseURL', 'RootURL', 'Hostname', 'Host', 'Port', 'Path', 'Scheme', 'FQDN', 'File']);

/** Names in the placeholders of a text that are neither functions nor parts of the target. */
export const unknownNames = (text: string): Set<string> => {
  const names = new Set<string>();
  for (const [, source = ''] of text.matchAll(/\{\{((?:[^{}]|\}(?!\}))*)\}\}/g)) {
    if (source.length > maxSource) continue;
    const bare = source.replaceAll(/\\?"(?:[^"\\]|\\[^"])*\\?"|'[^']*'/g, '');
    for (const [name] of bare.matchAll(/[A-Za-z_][A-Za-z0-9_-]*(?!\s*\(|[\w-])/g)) {
      const isKnown = functions.has(name) || targetNames.has(name) || /^(?:randstr(_\w+)?|interactsh-url)$/.test(name);
      if (!isKnown) names.add(name);
    }
  }
  return names;
};

/** Replaces every `{{…}}` of a text. Throws a TemplateError for what is unknown, not allowed or too large. */
export const createExpander = (scope: Scope) => {
  const expansion = createExpansion(scope);

  return (template: string) => expandAt(expansion, template, 0);
};

const alphanumeric = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
