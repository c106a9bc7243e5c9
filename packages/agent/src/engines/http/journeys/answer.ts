import type { JourneyCheck, JourneyExtraction } from '@rushhour/protocol';
import { findInJson, findJsonPath, findStatuses, type JsonStep } from '@rushhour/protocol';
import { RE2JS } from 're2js';
import type { ResponseField } from '../h1/response-parser.ts';
import { createTemplate, type FindVariable, type Template } from './template.ts';

/** An answer that has arrived whole. */
export interface Answer {
  readonly status: number;
  readonly fields: readonly ResponseField[];
  /** Bytes of the body. */
  readonly size: number;
  readonly timeMs: number;
  /** Empty unless the request keeps bodies. */
  body(): string;
  /** Undefined when the body is not JSON. */
  json(): unknown;
}

export interface Check {
  readonly needsBody: boolean;
  holds(answer: Answer, values: readonly string[]): boolean;
}

const findField = ({ fields }: Answer, name: string): string | undefined =>
  fields.find((field) => field.name === name)?.value;

const within = ({ min = 0, max = Number.POSITIVE_INFINITY }: JourneyCheck, value: number): boolean =>
  value >= min && value <= max;

const jsonPathOf = (text: string): readonly JsonStep[] => {
  const path = findJsonPath(text);
  if (path === undefined) throw new RangeError(`"${text}" is not a JSON path`);
  return path;
};

/** A missing value never fits; without an expected one it only has to be there. */
const fits = (found: string | undefined, expected: Template, values: readonly string[]): boolean => {
  if (found === undefined) return false;
  const wanted = expected.render(values);
  return wanted === '' || found === wanted;
};

const checkKinds: Record<JourneyCheck['kind'], (check: JourneyCheck, find: FindVariable) => Check> = {
  status: ({ value }) => {
    const statuses = findStatuses(value) ?? new Set<number>();
    return { needsBody: false, holds: ({ status }) => statuses.has(status) };
  },
  header: ({ name, value }, find) => {
    const [field, expected] = [name.toLowerCase(), createTemplate(value, find)];
    return { needsBody: false, holds: (answer, values) => fits(findField(answer, field), expected, values) };
  },
  contains: ({ value }, find) => {
    const expected = createTemplate(value, find);
    return { needsBody: true, holds: (answer, values) => answer.body().includes(expected.render(values)) };
  },
  regex: ({ value }) => {
    const pattern = RE2JS.compile(value);
    return { needsBody: true, holds: (answer) => pattern.matcher(answer.body()).find() };
  },
  json: ({ name, value }, find) => {
    const [path, expected] = [jsonPathOf(name), createTemplate(value, find)];
    return { needsBody: true, holds: (answer, values) => fits(findInJson(answer.json(), path), expected, values) };
  },
  size: (check) => ({ needsBody: false, holds: ({ size }) => within(check, size) }),
  time: (check) => ({ needsBody: false, holds: ({ timeMs }) => within(check, timeMs) }),
};

export const createCheck = (check: JourneyCheck, find: FindVariable): Check => checkKinds[check.kind](check, find);

export interface Extraction {
  readonly needsBody: boolean;
  readonly slot: number;
  readonly variable: string;
  find(answer: Answer): string | undefined;
}

const cookieOf = (answer: Answer, wanted: string): string | undefined => {
  for (const { name, value } of answer.fields) {
    if (name === 'set-cookie' && value.startsWith(`${wanted}=`)) return value.slice(wanted.length + 1).split(';', 1)[0];
  }
  return undefined;
};

const firstMatch = (pattern: RE2JS, text: string): string | undefined => {
  const matcher = pattern.matcher(text);
  if (!matcher.find()) return undefined;
  return (matcher.groupCount() > 0 ? matcher.group(1) : matcher.group()) ?? undefined;
};

export const createExtraction = ({ variable, from, expression }: JourneyExtraction, slot: number): Extraction => {
  const into = { variable, slot };
  switch (from) {
    case 'json': {
      const path = jsonPathOf(expression);
      return { ...into, needsBody: true, find: (answer) => findInJson(answer.json(), path) };
    }
    case 'regex': {
      const pattern = RE2JS.compile(expression);
      return { ...into, needsBody: true, find: (answer) => firstMatch(pattern, answer.body()) };
    }
    case 'header': {
      const name = expression.toLowerCase();
      return { ...into, needsBody: false, find: (answer) => findField(answer, name) };
    }
    case 'cookie':
      return { ...into, needsBody: false, find: (answer) => cookieOf(answer, expression) };
  }
};

/** Why an answer is not as expected, for people. */
export const checkText = ({ kind, name, value, min, max }: JourneyCheck): string => {
  const limits = [min === undefined ? '' : `at least ${min}`, max === undefined ? '' : `at most ${max}`];
  const expected = kind === 'size' || kind === 'time' ? limits.filter((text) => text !== '').join(', ') : value;
  return [kind, name, expected].filter((text) => text !== '').join(' ');
};
