import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { arbitraryOf } from './schema-arbitrary.ts';

interface Described {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly 'x-reference'?: string;
  readonly 'x-ignored'?: boolean;
}

export type Values = Record<string, unknown>;
type Path = readonly (string | number)[];

/** A member of a schema that holds a value: its path, and the schemas of the objects around it. */
export interface Member {
  readonly path: Path;
  readonly schema: TSchema;
  readonly around: readonly { readonly path: Path; readonly schema: TSchema }[];
}

/** Every member below a schema; of arrays the first item, of what no engine does only the whole. */
export const membersOf = (schema: TSchema, path: Path = [], around: Member['around'] = []): Member[] => {
  const { properties, items, 'x-ignored': isIgnored } = schema as Described;
  if (isIgnored) return [{ path, schema, around }];
  const within = [...around, { path, schema }];
  if (properties !== undefined && Object.keys(properties).length > 0) {
    return Object.entries(properties).flatMap(([name, member]) => membersOf(member, [...path, name], within));
  }
  if (items !== undefined && (items as Described).properties !== undefined) {
    return membersOf(items, [...path, 0], within);
  }
  return [{ path, schema, around }];
};

/** The smallest value that fits. */
const minimalOf = (schema: TSchema): unknown => {
  const {
    default: byDefault,
    enum: known,
    const: only,
    type,
    properties = {},
    required = [],
    ...rest
  } = schema as Described;
  if (byDefault !== undefined) return structuredClone(byDefault);
  if (rest['x-reference'] !== undefined) return type === 'string' ? '1' : 1;
  if (only !== undefined || known !== undefined) return only ?? known?.[0];
  if (type === 'object')
    return Object.fromEntries(required.map((name) => [name, minimalOf(properties[name] as TSchema)]));
  if (type === 'array') return [];
  if (type === 'boolean') return false;
  if (type === 'integer' || type === 'number') return rest.minimum ?? (rest.exclusiveMinimum ?? 0) + 1;
  return sample(schema)[0];
};

const sample = (schema: TSchema): unknown[] => {
  try {
    return fc.sample(arbitraryOf(schema), { numRuns: 3, seed: 7 });
  } catch {
    return [];
  }
};

/** Other values for a member. Ids are those of records that do not exist, which must be noticed. */
export const othersOf = (schema: TSchema, value: unknown): unknown[] => {
  const described = schema as Described;
  const { type, enum: known, items, minimum = 0, maximum = 1e9 } = described;
  if (described['x-reference'] !== undefined) return type === 'array' ? [[99]] : type === 'string' ? ['99'] : [99];
  if (known !== undefined) return known.filter((one) => one !== value);
  switch (type) {
    case 'boolean':
      return [true, false].filter((one) => one !== value);
    case 'integer':
    case 'number': {
      const near = typeof value === 'number' ? [value + 1, value - 1, value * 2] : [];
      return [...near, minimum, minimum + 1, 100, 1000, maximum].filter((one) => one !== value);
    }
    case 'array':
      return [
        [],
        ...(items === undefined ? [] : [[minimalOf(items)], ...othersOf(items, undefined).map((one) => [one])]),
      ];
    case 'object': {
      const members = Object.entries(described.properties ?? {});
      return [
        { a: 1 },
        ...members.flatMap(([name, member]) => othersOf(member, undefined).map((one) => ({ [name]: one }))),
      ];
    }
    default:
      return ['10.99.0.9', '10.99.0.9 > 10.99.1.9', '2000-3000', '81', 'a.test', '/a', 'x', 'cubic', ...sample(schema)];
  }
};

const get = (values: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, name) => (at as Values | undefined)?.[name], values);

/** A copy with another value at a path; missing objects on the way are the smallest that fit. */
const withValue = (member: Member, values: Values, value: unknown, path: Path = member.path): Values => {
  const copy = structuredClone(values);
  let at: Values = copy;
  for (const [i, name] of path.slice(0, -1).entries()) {
    const { schema } = member.around[i + 1] as Member['around'][number];
    if (at[name] === undefined) at[name] = minimalOf(schema);
    at = at[name] as Values;
  }
  at[path.at(-1) as string] = value;
  return copy;
};

/** The same with the objects around the member, so that a change is one of the member alone. */
const ensured = (member: Member, values: Values): Values => {
  const own = get(values, member.path);
  if (own !== undefined) return values;
  const { required = [] } = (member.around.at(-1)?.schema ?? {}) as Described;
  const isNeeded = required.includes(String(member.path.at(-1))) && (member.schema as Described).default === undefined;
  return withValue(member, values, isNeeded ? minimalOf(member.schema) : undefined);
};

/**
 * Values in which a member may matter: as they are, and with every other choice of the flags and enumerations beside it
 * and around it.
 */
function* contextsOf(member: Member, base: Values): Generator<Values> {
  yield ensured(member, base);
  for (const { path, schema } of member.around.toReversed()) {
    for (const [name, sibling] of Object.entries((schema as Described).properties ?? {})) {
      const { type, enum: known } = sibling as Described;
      const at = [...path, name];
      const isChoice = type === 'boolean' || known !== undefined;
      if (name === 'isServer' || !isChoice || at.join() === member.path.join()) continue;
      for (const other of othersOf(sibling, get(base, at))) yield ensured(member, withValue(member, base, other, at));
    }
  }
}

/** Pairs of values that differ in one member only. */
export function* changesOf(member: Member, base: Values): Generator<readonly [Values, Values]> {
  for (const context of contextsOf(member, base)) {
    for (const other of othersOf(member.schema, get(context, member.path)))
      yield [context, withValue(member, context, other)];
  }
}

/** A member with a single value cannot be changed. */
export const isFixed = ({ schema }: Member): boolean => {
  const { const: only, enum: known } = schema as Described;
  return only !== undefined || known?.length === 1;
};

export const nameOf = ({ path }: Member): string => path.map((name) => (name === 0 ? '[]' : name)).join('.');
