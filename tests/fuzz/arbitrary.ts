import fc from 'fast-check';

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  format?: string;
  pattern?: string;
  patternProperties?: Record<string, Schema>;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  readOnly?: boolean;
}

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('x', 'ÄÖÜ', "'; --", '%_\\', '<b>'),
);

/** Values that a schema accepts; small ids, so that requests hit existing records. */
export const valid = (schema: Schema): fc.Arbitrary<unknown> => {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf && !schema.properties) return fc.oneof(...schema.anyOf.map(valid));
  const [type] = [schema.type].flat();
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((one) => valid({ ...schema, type: one })));
  switch (type) {
    case 'object':
      return validObject(schema);
    case 'array': {
      const bounds = {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, (schema.minItems ?? 0) + 4),
      };
      const item = valid(schema.items ?? {});
      return schema.uniqueItems ? fc.uniqueArray(item, bounds) : fc.array(item, bounds);
    }
    case 'integer':
    case 'number':
      return validNumber(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return validString(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
};

const validObject = ({ properties = {}, required = [], patternProperties }: Schema) => {
  if (patternProperties)
    return fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
  const members = Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, valid(member)]));
  return fc.record(members, { requiredKeys: required.filter((name) => name in members) });
};

const validNumber = ({ minimum = -1000, maximum = 1000 }: Schema) => {
  const near = fc.integer({ min: Math.ceil(minimum), max: Math.min(Math.floor(maximum), Math.ceil(minimum) + 20) });
  return fc.oneof({ arbitrary: near, weight: 8 }, { arbitrary: fc.constantFrom(minimum, maximum), weight: 1 });
};

const validString = ({ format, pattern, minLength = 0, maxLength = 50 }: Schema): fc.Arbitrary<string> => {
  if (format === 'date-time')
    return fc
      .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString());
  if (format === 'email') return fc.integer({ min: 0, max: 1e6 }).map((n) => `u${n}@example.test`);
  if (pattern) return fc.stringMatching(new RegExp(pattern)).map((value) => value.slice(0, maxLength));
  return text.map((value) => value.padEnd(minLength, 'x').slice(0, maxLength));
};

const wrong = fc.constantFrom<unknown>(
  null,
  true,
  -1,
  0.5,
  1e308,
  2 ** 60,
  '',
  'x'.repeat(5000),
  [],
  {},
  [null],
  { __proto__x: 1 },
  '\ufffe',
  'true',
  '1',
);

/** A valid value with one thing wrong: a member missing, unknown, of another type or out of bounds. */
export const violated = (schema: Schema): fc.Arbitrary<unknown> =>
  fc
    .tuple(valid(schema), fc.nat(), fc.constantFrom('drop', 'add', 'replace', 'deep'), wrong)
    .map(([value, pick, how, bad]) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return bad;
      const names = Object.keys(schema.properties ?? {});
      const name = names[pick % Math.max(1, names.length)] ?? 'x';
      const copy: Record<string, unknown> = { ...value };
      if (how === 'drop')
        delete copy[(schema.required ?? [])[pick % Math.max(1, schema.required?.length ?? 0)] ?? name];
      else if (how === 'add') copy['noSuchMember'] = bad;
      else if (how === 'deep' && Array.isArray(copy[name])) copy[name] = [...(copy[name] as unknown[]), bad];
      else copy[name] = bad;
      return copy;
    });

const deep = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/** Invalid JSON, or JSON of an unexpected shape. */
export const garbage: fc.Arbitrary<Buffer> = fc.oneof(
  fc.json({ maxDepth: 3 }).map((json) => Buffer.from(json)),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      '',
      '{',
      'null',
      '"text"',
      '[]',
      '{"__proto__":{"isAdmin":true}}',
      '{"constructor":{"prototype":{"x":1}}}',
      '{"name":"a","name":"b"}',
      '{"id":1,"id":"1"}',
      '\ufeff{"name":"bom"}',
      '{"name":"\\ud800"}',
      '{"name":"a\\u0000b"}',
      '{"\\u0000":1}',
      '{"id":1e400}',
      '{"id":-0}',
      '{"array":[1e308,-1e308,9007199254740993]}',
      '{"array":[1,1]}',
      '{"email":{},"password":[]}',
      '{"name":"x"}garbage',
      "{'name':'x'}",
      '{"name":NaN}',
      deep(20_000, '[', ']'),
      `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
      deep(40, '[', ']'),
    )
    .map((json) => Buffer.from(json)),
  fc.constant(Buffer.from('7b226e616d65223a22ff22 7d'.replaceAll(' ', ''), 'hex')),
);

/** Values in the position of an id. */
export const oddId = fc.oneof(
  fc.constantFrom(
    '0',
    '-1',
    '1.5',
    'abc',
    '1e3',
    '9007199254740993',
    '99999999999999999999',
    '%00',
    '%ff',
    '..%2f..',
    '1%20',
    'null',
    '0x10',
    '',
    '%E0%A4%A',
    'a'.repeat(300),
    '1;drop',
    "1'",
  ),
  fc.string({ maxLength: 10 }).map((value) => encodeURIComponent(value.toWellFormed())),
);

/** Header lines that may be wrong in any way. */
export const oddHeader = fc.oneof(
  fc.constantFrom(
    'Content-Type: text/plain',
    'Content-Type: application/json; charset=latin1',
    'Content-Type: application/xml',
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Type: multipart/form-data',
    'Content-Type: application/octet-stream',
    'Content-Type: ;;;',
    'Content-Type:',
    'Cookie: accessToken=',
    'Cookie: =; ;;==;accessToken',
    `Cookie: accessToken=${'x'.repeat(4000)}`,
    'Cookie: accessToken=%00%ff',
    `X-Long: ${'y'.repeat(20_000)}`,
    'Idempotency-Key:',
    `Idempotency-Key: ${'k'.repeat(300)}`,
    'Origin: null',
    'Origin: http://elsewhere.test',
    'Sec-Fetch-Site: cross-site',
    'Last-Event-ID: -1',
    'Last-Event-ID: 99999999999999999999999',
    'Range: bytes=5-1',
    'Content-Encoding: gzip',
    'Transfer-Encoding: gzip',
    'Expect: 200-ok',
    'Accept: text/html',
    'If-None-Match: *',
    'Host:',
    'No-Colon-Here',
    'Bad Name: x',
    'X-Control: a\x01b',
  ),
  fc
    .tuple(fc.stringMatching(/^[a-z-]{1,12}$/), fc.string({ maxLength: 30 }))
    .map(([name, value]) => `${name}: ${value.replace(/[\r\n]/g, '')}`),
);
