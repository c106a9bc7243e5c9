import type { Route } from '@rushhour/contract';

interface Member {
  type?: string | string[];
}

type Members = Record<string, Member>;

const membersOf = (schema: unknown): Members => (schema as { properties?: Members } | undefined)?.properties ?? {};

/** An invalid command line; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Turns `--name value` pairs into the parts of a request. A name belongs to the path, the query or the body, whichever
 * knows it; `--json '{…}'` gives a whole body, and values that are JSON are taken as JSON where text is not wanted.
 */
export const requestOf = (route: Route, options: readonly [string, string][]) => {
  const parts = { params: membersOf(route.params), query: membersOf(route.query), body: membersOf(route.body) };
  const request: { params: object; query: object; body?: object } = { params: {}, query: {} };
  for (const [name, text] of options) {
    if (name === 'json') {
      request.body = { ...request.body, ...parseJson(text) };
      continue;
    }
    const part = (Object.keys(parts) as (keyof typeof parts)[]).find((key) => name in parts[key]);
    if (part === undefined) throw new UsageError(`unknown option --${name}; options: ${namesOf(route).join(' ')}`);
    request[part] = { ...request[part], [name]: readValue(parts[part][name] ?? {}, text) };
  }
  return request;
};

export const namesOf = (route: Route) =>
  [route.params, route.query, route.body].flatMap((schema) =>
    Object.entries(membersOf(schema))
      .filter(([, member]) => (member as { readOnly?: boolean }).readOnly !== true)
      .map(([name]) => `--${name}`),
  );

const readValue = ({ type }: Member, text: string): unknown => {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const parseJson = (text: string): object => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--json: ${(error as Error).message}`);
  }
};

/** Splits what follows the operation into pairs; `--flag` alone means true. */
export const optionsOf = (args: readonly string[]): [string, string][] => {
  const options: [string, string][] = [];
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] as string;
    if (!arg.startsWith('--')) throw new UsageError(`unexpected argument "${arg}": options are written --name value`);
    const [name = '', inline] = arg.slice(2).split(/=(.*)/s);
    const next = args[i + 1];
    if (inline !== undefined) options.push([name, inline]);
    else if (next !== undefined && !next.startsWith('--')) {
      options.push([name, next]);
      i += 1;
    } else options.push([name, 'true']);
  }
  return options;
};
