import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeProto } from './proto-encode.ts';
import { parseProtoFile } from './proto-file.ts';

const source = `
// A shop.
syntax = "proto3";
package shop.v1;
option java_package = "x { } ;";
/* Kinds
   of goods */
enum Kind { option allow_alias = true; UNKNOWN = 0; BOOK = 1; TOME = 1 [deprecated = true]; NEGATIVE = -5; }
message Item {
  reserved 15, 20 to 30; reserved "old";
  message Price { sint64 cents = 1; string currency = 2; }
  string name = 1;
  Kind kind = 2;
  Price unit_price = 3;
  repeated int32 sizes = 4;
  repeated string labels = 5 [json_name = "tags"];
  map<string, Price> offers = 6;
  oneof how { bool gift = 7; bytes seal = 8; }
  optional uint32 count = 9;
  float weight = 10; double exact = 11; fixed32 a = 12; sfixed64 b = 13; fixed64 c = 14; sfixed32 d = 31;
  repeated Kind kinds = 32; repeated Price history = 33; int64 big = 34; uint64 bigger = 35; sint32 zig = 36;
  map<int32, bool> flags = 37; .shop.v1.Kind full = 38; repeated double values = 39 [packed = true];
}
service Cart {
  option deprecated = false;
  rpc Add (Item) returns (Item.Price);
  rpc Watch (stream shop.v1.Item) returns (stream Item) { option idempotency_level = IDEMPOTENT; }
}
`;

/** The same content as JSON and in the text form of protoc. */
const content = {
  name: 'größe',
  kind: 'BOOK',
  unitPrice: { cents: '-1234567890123', currency: 'EUR' },
  sizes: [0, 1, -1, 2147483647],
  labels: ['a', ''],
  offers: { spring: { cents: 5 } },
  gift: false,
  count: 0,
  weight: 1.5,
  exact: -0.1,
  ...{ a: 4294967295, b: '-9223372036854775808', c: '18446744073709551615', d: -7 },
  kinds: ['UNKNOWN', 'NEGATIVE', 1],
  history: [{}, { currency: 'CHF' }],
  ...{ big: -1, bigger: '18446744073709551615', zig: -3 },
  flags: { '-4': true },
  full: 1,
  values: [0, 2.5],
};
const asText = `name: "größe" kind: BOOK unit_price { cents: -1234567890123 currency: "EUR" } sizes: [0, 1, -1, 2147483647]
labels: "a" labels: "" offers { key: "spring" value { cents: 5 } } gift: false count: 0 weight: 1.5 exact: -0.1
a: 4294967295 b: -9223372036854775808 c: 18446744073709551615 d: -7 kinds: [UNKNOWN, NEGATIVE, BOOK]
history {} history { currency: "CHF" } big: -1 bigger: 18446744073709551615 zig: -3 flags { key: -4 value: true }
full: BOOK values: [0, 2.5]`;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rushhour-proto-'));
  writeFileSync(join(folder, 'shop.proto'), source);
});
afterAll(() => rmSync(folder, { recursive: true }));

const protoc = (option: string, input: string | Uint8Array): Buffer => {
  const { stdout, stderr, status } = spawnSync('protoc', [`--proto_path=${folder}`, option, 'shop.proto'], { input });
  expect(status, String(stderr)).toBe(0);
  return stdout;
};

describe('a .proto file', () => {
  it('gives messages the bytes that protoc gives them', () => {
    const ours = encodeProto(parseProtoFile(source), 'shop.v1.Item', content);
    expect(Buffer.from(ours).toString('hex')).toBe(protoc('--encode=shop.v1.Item', asText).toString('hex'));
    expect(protoc('--decode=shop.v1.Item', ours).toString()).toContain('currency: "CHF"');
    expect(encodeProto(parseProtoFile(source), 'shop.v1.Item', { name: '', count: null, sizes: [] })).toHaveLength(0);
    expect([...encodeProto(parseProtoFile(source), 'shop.v1.Item', { seal: 'AP8=' })]).toEqual([0x42, 2, 0, 255]);
  });

  it('refuses content that is nested too deep', () => {
    const file = parseProtoFile('message A { A a = 1; }');
    const nested = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}{}${'}'.repeat(depth)}`);
    expect(encodeProto(file, 'A', nested(100))).toHaveLength(236);
    expect(() => encodeProto(file, 'A', nested(101))).toThrow('is nested too deep');
  });

  it('names methods, their messages and who streams', () => {
    const { methods } = parseProtoFile(source);
    expect([...methods]).toMatchObject([
      ['/shop.v1.Cart/Add', { input: 'Item', output: 'Item.Price', streamsIn: false, streamsOut: false }],
      ['/shop.v1.Cart/Watch', { input: 'shop.v1.Item', streamsIn: true, streamsOut: true }],
    ]);
  });

  it.each([
    ['syntax = "proto2";', 'line 1: only the syntax proto3'],
    ['syntax = "proto3";\nimport "other.proto";', 'line 2: imports are not read'],
    ['message A {\n string a = 1;\n string b = 1; }', 'line 3: the name or number of b'],
    ['message A { required string a = 1; }', 'belongs to proto2'],
    ['message A { string a = 0; }', '0 is no number of a field'],
    ['message A { string', 'ends too early'],
    ['message A { string a = "x"; }', 'a whole number is expected'],
    ['\u0000', 'line 1: cannot be read'],
    ['message A {}\nmessage A {}', 'line 2: A is there twice'],
    ['message A {'.repeat(40), 'nested too deep'],
  ])('is refused with the reason: %j', (text, reason) => {
    expect(() => parseProtoFile(text)).toThrow(reason);
  });

  it.each([
    [{ other: 1 }, 'other: shop.v1.Item has no such field'],
    [{ unitPrice: { cents: 'x' } }, 'unitPrice.cents: is no whole number'],
    [{ sizes: [1, 2147483648] }, 'sizes.1: is not within -2147483648 to 2147483647'],
    [{ kind: 'PEN' }, 'kind: is none of UNKNOWN, BOOK'],
    [{ labels: 'a' }, 'labels: is no list'],
    [{ offers: { a: 1 } }, 'offers.a: is no object'],
    [{ gift: 1 }, 'gift: is neither'],
    [{ seal: '!' }, 'seal: is no base64'],
    [[], 'is no object'],
  ])('refuses content that does not fit: %j', (json, reason) => {
    expect(() => encodeProto(parseProtoFile(source), 'shop.v1.Item', json)).toThrow(reason);
  });
});
