import { ToController } from '@rushhour/protocol';

/** The members of a JSON schema that mutations look at. */
interface Schema {
  const?: unknown;
  anyOf?: Schema[];
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  patternProperties?: Record<string, Schema>;
  additionalProperties?: unknown;
  items?: Schema;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
}

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A small deterministic generator (mulberry32): the seed repeats a campaign. */
export const randomOf = (seed: number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};

export const pickOf =
  (random: () => number) =>
  <T>(items: readonly T[]): T =>
    items[Math.floor(random() * items.length)] as T;

const hasType = ({ anyOf, properties }: Schema, type: string): boolean =>
  anyOf ? anyOf.some((one) => hasType(one, type)) : properties?.['type']?.const === type;

const variantOf = (schema: Schema, type: string): Schema | undefined => {
  const found = schema.anyOf?.find((one) => hasType(one, type));
  return found?.anyOf ? variantOf(found, type) : found;
};

const texts = [
  ...['', 'x', '\u0000', '\ud800', 'a\udfffb', '\u202e', 'ÄÖ', "'; --", '%s', '../../etc/passwd', '8.8.8.8', '::1'],
  ...['169.254.1.1', '0.0.0.0', '__proto__', 'constructor', 'http.requests', '\u{1f600}', '\r\nX: y', '<script>'],
];
const numbers = [0, 1, -1, 2, 0.5, -0, 255, 65_535, 1e6, 2 ** 31, 2 ** 32, 1e12, 1.8e12, 2 ** 53 - 1, 4e15];

const isFitting = (value: number, { type, minimum = -Infinity, maximum = Infinity }: Schema) =>
  value >= minimum && value <= maximum && (type !== 'integer' || Number.isInteger(value));

/** Another number that the schema allows: its bounds, their neighbours, and numbers that are edges elsewhere. */
const numberFor = (schema: Schema, random: () => number) => {
  const { minimum = 0, maximum = 0 } = schema;
  const edges = [minimum, maximum, minimum + 1, maximum - 1, Math.floor(minimum + random() * (maximum - minimum))];
  const fitting = [...edges, ...numbers, Date.now()].filter((value) => isFitting(value, schema));
  return fitting.length === 0 ? minimum : pickOf(random)(fitting);
};

const textFor = ({ minLength = 0, maxLength = 1000, pattern }: Schema, before: string, random: () => number) => {
  const pick = pickOf(random);
  const long = pick(texts.filter((text) => text.length > 0)).repeat(maxLength);
  const wanted = pick([...texts, before + before, before.slice(1), long.slice(0, maxLength), before.toUpperCase()]);
  const text = wanted.slice(0, maxLength).padEnd(minLength, 'x');
  return pattern === undefined || new RegExp(pattern, 'u').test(text) ? text : before;
};

/** A value that the schema allows, different from `before` where that is easy. */
const fittingValue = (schema: Schema, before: unknown, random: () => number): unknown => {
  if (schema.const !== undefined) return schema.const;
  if (schema.anyOf) return fittingValue(pickOf(random)(schema.anyOf), before, random);
  switch (schema.type) {
    case 'integer':
    case 'number':
      return numberFor(schema, random);
    case 'string':
      return textFor(schema, typeof before === 'string' ? before : '', random);
    case 'boolean':
      return random() < 0.5;
    case 'null':
      return null;
    case 'array':
      return listFor(schema, Array.isArray(before) ? before : [], random);
    default:
      return before;
  }
};

/** Longer, shorter or in another order. */
const listFor = ({ minItems = 0, maxItems = 1000 }: Schema, before: unknown[], random: () => number) => {
  const copies = pickOf(random)([0, 1, 2, 2, 20]);
  const list = Array.from({ length: copies }, () => structuredClone(before)).flat();
  const shuffled = random() < 0.5 ? list.reverse() : list;
  return shuffled.length < minItems ? before : shuffled.slice(0, maxItems);
};

const memberSchema = ({ properties = {}, patternProperties = {} }: Schema, name: string): Schema | undefined =>
  properties[name] ?? Object.values(patternProperties)[0];

/** Changes one member, and keeps the message as the protocol demands it. */
export const mutateFitting = (value: Tree, schema: Schema, random: () => number): void => {
  const pick = pickOf(random);
  const names = Object.keys(value).filter((name) => name !== 'type');
  if (names.length === 0) return;
  const name = pick(names);
  const inner = memberSchema(schema, name);
  if (inner === undefined) return;
  const before = value[name];
  const item = Array.isArray(before) && before.length > 0 ? pick(before) : undefined;
  const isRecord = schema.patternProperties !== undefined;
  if (isTree(before) && inner.type === 'object') mutateFitting(before, inner, random);
  else if (isTree(item) && inner.items?.type === 'object' && random() < 0.8) mutateFitting(item, inner.items, random);
  else if (isRecord && random() < 0.5) value[pick(texts)] = fittingValue(inner, before, random);
  else if (!isRecord && random() < 0.1 && !schema.required?.includes(name)) delete value[name];
  else value[name] = fittingValue(inner, before, random);
};

/** The schema of messages of this type. */
export const messageSchema = (type: string) => variantOf(ToController as Schema, type);
