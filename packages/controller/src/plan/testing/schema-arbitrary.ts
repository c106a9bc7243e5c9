import type { ReferenceKind } from '@rushhour/contract';
import fc from 'fast-check';
import type { TSchema } from 'typebox';

interface Described {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly items?: TSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly 'x-reference'?: ReferenceKind;
}

/** The ids that references may have; a kind that is left out is named by 1. */
export type KnownIds = Partial<Record<ReferenceKind, readonly number[]>>;

// Patterns of addresses look ahead, which strings cannot be drawn from.
const addresses = fc.oneof(fc.ipV4(), fc.ipV6());
const isAddress = (pattern: string) => pattern.includes('25[0-5]');

const arbitraryText = ({ pattern, minLength = 0, maxLength = 40 }: Described): fc.Arbitrary<string> => {
  if (pattern === undefined) return fc.string({ minLength, maxLength: Math.min(maxLength, 40) });
  if (isAddress(pattern)) return addresses.filter((text) => new RegExp(pattern).test(text));
  return fc
    .stringMatching(new RegExp(pattern))
    .filter((text) => text.length >= minLength && text.length <= Math.min(maxLength, 4096));
};

const arbitraryNumber = ({ type, minimum, exclusiveMinimum, maximum = 1e9 }: Described): fc.Arbitrary<number> => {
  const max = Math.min(maximum, Number.MAX_SAFE_INTEGER);
  if (type === 'integer') return fc.integer({ min: minimum ?? 0, max: max });
  return fc.double({
    min: minimum ?? exclusiveMinimum ?? 0,
    max: max,
    noNaN: true,
    minExcluded: minimum === undefined,
  });
};

const arbitraryObject = ({ properties = {}, required = [] }: Described, ids: KnownIds): fc.Arbitrary<object> => {
  const members = Object.entries(properties).map(([name, schema]) => [name, arbitraryOf(schema, ids)] as const);
  // Members with a default may be left out although the filled form has them.
  const requiredKeys = required.filter((name) => !('default' in (properties[name] ?? {})));
  return fc.record(Object.fromEntries(members), { requiredKeys: requiredKeys as never[] });
};

/** Values that fit a schema. */
export const arbitraryOf = (schema: TSchema, ids: KnownIds = {}): fc.Arbitrary<unknown> => {
  const described = schema as Described;
  const kind = described['x-reference'];
  if (kind !== undefined && described.type === 'integer') return fc.constantFrom(...(ids[kind] ?? [1]));
  if (described.const !== undefined) return fc.constant(described.const);
  if (described.enum !== undefined) return fc.constantFrom(...described.enum);
  switch (described.type) {
    case 'object':
      return arbitraryObject(described, ids);
    case 'array': {
      const item = arbitraryOf(described.items as TSchema, ids);
      const bounds = { minLength: described.minItems ?? 0, maxLength: Math.min(described.maxItems ?? 4, 4) };
      return described.uniqueItems ? fc.uniqueArray(item, bounds) : fc.array(item, bounds);
    }
    case 'boolean':
      return fc.boolean();
    case 'string':
      return arbitraryText(described);
    case 'integer':
    case 'number':
      return arbitraryNumber(described);
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`);
  }
};
