import type { TSchema } from 'typebox';

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Record<string, TSchema>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
  readonly oneOf?: readonly TSchema[];
  readonly allOf?: readonly TSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** Values that a reader recognises, by the name of the member; taken only where they satisfy the schema. */
const byName: Record<string, unknown> = {
  name: 'Lab firewall',
  description: 'Firewall of the laboratory, rack 4',
  comment: 'Firewall, 200 requests a second',
  email: 'engineer@example.test',
  realName: 'Ada Lovelace',
  password: 'quiet-Harbour-27-lamps',
  currentPassword: 'quiet-Harbour-27-lamps',
  newPassword: 'amber-Lighthouse-31-keys',
  reason: 'Maintenance of the rack',
  tags: 'lab,rack-4',
  ttlSec: 3600,
  maxUses: 1,
  url: 'https://hooks.example.test/rushhour',
};

/** Texts of common patterns; the first that matches is taken. */
const texts = [
  ...['text', 'a', '1', '10.0.0.0/24', '10.0.0.1', '02:00:00:00:00:01', '00:00', '1.2.3', 'key_a', 'a'.repeat(8)],
  ...[
    'a'.repeat(16),
    'a'.repeat(32),
    'a'.repeat(40),
    'a'.repeat(64),
    'CVE-2024-1234',
    'T1071',
    'http://10.0.0.1/',
    '/',
  ],
  ...['https://example.test/', 'sha256:'.padEnd(71, 'a'), '0a', '1-65535', 'en', 'PT1H', '0 6 * * *', '*', 'a.b', 'A'],
];

const byFormat: Record<string, string> = {
  'date-time': '2026-05-04T09:30:00.000Z',
  date: '2026-05-04',
  email: 'engineer@example.test',
  uri: 'https://example.test/',
  uuid: '7f6f1c1e-0f5f-4b7e-9d56-3f2b1a0c9e8d',
  ipv4: '10.0.0.1',
  ipv6: '2001:db8::1',
};

const fits = (text: string, { pattern, minLength = 0 }: JsonSchema) =>
  text.length >= minLength && (pattern === undefined || new RegExp(pattern, 'u').test(text));

const textOf = (schema: JsonSchema, name: string): string => {
  const named = byName[name];
  if (typeof named === 'string' && fits(named, schema)) return named;
  const formatted = byFormat[schema.format ?? ''];
  if (formatted !== undefined) return formatted;
  return texts.find((text) => fits(text, schema)) ?? 'a'.repeat(schema.minLength ?? 1);
};

const numberOf = ({ minimum = 0 }: JsonSchema, name: string): number => {
  const named = byName[name];
  return typeof named === 'number' && named >= minimum ? named : Math.max(minimum, 1);
};

/** Optional members that are shown when a schema has no required ones. */
const shownOptional = 2;

const objectOf = (schema: JsonSchema): Record<string, unknown> => {
  const { properties = {}, minProperties = 0, maxProperties = shownOptional } = schema;
  // Alternatives of an object with members of its own only say which of them are required.
  const [alternative] = (schema.anyOf ?? schema.oneOf ?? []) as readonly JsonSchema[];
  const required = [...(schema.required ?? []), ...(alternative?.required ?? [])];
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const some = required.length === 0 ? Math.min(shownOptional, maxProperties) : 0;
  const count = Math.max(some, minProperties - required.length);
  const shown = [...required, ...optional.slice(0, count)];
  return Object.fromEntries(
    shown.flatMap((name) => (properties[name] === undefined ? [] : [[name, exampleOf(properties[name], name)]])),
  );
};

/** An example that satisfies a schema: its own, its default, or the simplest one with recognisable values. */
export const exampleOf = (given: TSchema, name = ''): unknown => {
  const schema = given as unknown as JsonSchema;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  const choice = schema.properties === undefined ? (schema.anyOf?.[0] ?? schema.oneOf?.[0]) : undefined;
  if (choice !== undefined) return exampleOf(choice, name);
  if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, name)));
  if (schema.enum !== undefined) return schema.enum[0];
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  if (type !== 'object' && schema.default !== undefined) return schema.default;
  if (type === 'object') return objectOf(schema);
  if (type === 'array') return schema.items === undefined ? [] : [exampleOf(schema.items, name)];
  if (type === 'integer' || type === 'number') return numberOf(schema, name);
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  return type === 'string' ? textOf(schema, name) : {};
};
