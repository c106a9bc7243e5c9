import { functions, maxMessageBytes } from './functions.ts';
import { type Expression, parseExpression } from './parse-expression.ts';
import { seededBytes } from './seeded-bytes.ts';
import { TemplateError } from './template-error.ts';

/** What `{{…}}` may refer to while one attempt is made. */
export interface Scope {
  /** Values of the attempt's payloads and of the target, as they are. */
  readonly values: ReadonlyMap<string, Buffer>;
  /** Variables of the signature: expressions themselves. */
  readonly variables: Readonly<Record<string, string>>;
  /** What random values follow from. */
  readonly seed: string;
}

const placeholder = /\{\{(.*?)\}\}/gs;
const maxNesting = 8;

/** Replaces every `{{…}}` of a text. Throws a TemplateError for what is unknown, not allowed or too large. */
export const createExpander = (scope: Scope) => {
  const known = new Map<string, Buffer>();

  const random = (name: string) => seededBytes(`${scope.seed}/${name}`);

  const lookUp = (name: string, nesting: number): Buffer => {
    const given = scope.values.get(name) ?? known.get(name);
    if (given !== undefined) return given;
    if (Object.hasOwn(scope.variables, name)) {
      const value = expandAt(scope.variables[name] ?? '', nesting + 1);
      known.set(name, value);
      return value;
    }
    // `randstr`, `randstr_1`, …: each name keeps its text during the attempt.
    const value = /^randstr(_\w+)?$/.test(name) ? Buffer.from(random(name).text(alphanumeric, 27)) : callOf(name, []);
    known.set(name, value);
    return value;
  };

  const callOf = (name: string, args: readonly Buffer[]): Buffer => {
    const call = functions.get(name);
    if (call === undefined) {
      const what = args.length > 0 ? `the function ${name} is not allowed` : `{{${name}}} is not known`;
      throw new TemplateError('FUNCTION_NOT_ALLOWED', what);
    }
    const key = `${name}(${args.map((arg) => arg.toString('base64')).join()})`;
    const result = call(args, random(key));
    return typeof result === 'string' ? Buffer.from(result) : result;
  };

  const resultOf = (expression: Expression, nesting: number): Buffer => {
    switch (expression.kind) {
      case 'text':
        return Buffer.from(expression.value);
      case 'number':
        return Buffer.from(String(expression.value));
      case 'name':
        return lookUp(expression.name, nesting);
      default:
        return callOf(
          expression.name,
          expression.args.map((argument) => resultOf(argument, nesting)),
        );
    }
  };

  const expandAt = (template: string, nesting: number): Buffer => {
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
    for (const match of template.matchAll(placeholder)) {
      add(Buffer.from(template.slice(end, match.index)));
      add(resultOf(parseExpression(match[1] ?? ''), nesting));
      end = match.index + match[0].length;
    }
    add(Buffer.from(template.slice(end)));
    return Buffer.concat(parts);
  };

  return (template: string) => expandAt(template, 0);
};

const alphanumeric = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
