import { type Static, Type } from 'typebox';
import { Id } from '../../scalars.ts';
import { OneOf, optional, StrictComponent, strict } from '../../schema.ts';

const maxMessage = 1_048_576;

const Header = StrictComponent('CveHeader', {
  name: Type.String({ minLength: 1, maxLength: 256 }),
  value: Type.String({ maxLength: 65_536 }),
});

const timing = {
  idx: Type.Integer({ minimum: 0, maximum: 19, description: 'Position, from 0' }),
  delayMs: optional.integer([0, 60_000], 'Wait before it is sent'),
  waitResponse: optional.flag('Wait for the answer before the next; true unless said'),
};

const text = (description: string, maxLength = maxMessage) => Type.String({ maxLength, description });

const HttpRequest = StrictComponent('CveHttpRequest', {
  ...timing,
  kind: Type.Literal('http'),
  method: Type.String({ minLength: 1, maxLength: 64, description: 'Method' }),
  path: text('Path and query; no host: it is always the server of the task', 65_536),
  version: optional.oneOf(['1.1', '1.0', '2'], { description: '1.1 unless said' }),
  headers: optional.array(Header, { maxItems: 200 }),
  body: Type.Optional(text('Body')),
  bodyEncoding: optional.oneOf(['text', 'base64'], { description: 'text unless said' }),
  exact: optional.flag('The headers are complete and in order: Host, Connection and Content-Length are not added'),
});

const RawRequest = StrictComponent('CveRawRequest', {
  ...timing,
  kind: Type.Literal('raw'),
  transport: OneOf(['tcp', 'udp']),
  port: optional.integer([1, 65_535], 'Usual port of the service'),
  data: text('Bytes'),
  encoding: optional.oneOf(['text', 'hex', 'base64'], { description: 'text unless said' }),
  tls: optional.flag('By TLS'),
});

const DnsRequest = StrictComponent('CveDnsRequest', {
  ...timing,
  kind: Type.Literal('dns'),
  qname: text('Name to ask for', 253),
  qtype: optional.oneOf(['A', 'AAAA', 'TXT', 'MX', 'CNAME'], { description: 'A unless said' }),
});

/** One message of the client; `kind` determines its members. */
export const SigRequest = Type.Union([HttpRequest, RawRequest, DnsRequest], { title: 'CveRequest' });
export type SigRequest = Static<typeof SigRequest>;

export const SigResponse = StrictComponent('CveResponse', {
  idx: Type.Integer({ minimum: 0, maximum: 19, description: 'Position, from 0' }),
  when: Type.Optional(
    Type.Object({ requestIdx: Type.Integer({ minimum: 0, maximum: 19 }) }, { ...strict, description: 'Answers this' }),
  ),
  mode: OneOf(['canned', 'echo', 'empty', 'synthesised', 'silent'], {
    description: 'As written, what came in, nothing but a head, made from the matchers of a template, or no answer',
  }),
  status: optional.integer([100, 599], '200 unless said'),
  headers: optional.array(Header, { maxItems: 200 }),
  body: Type.Optional(text('Body')),
  bodyEncoding: optional.oneOf(['text', 'base64'], { description: 'text unless said' }),
});
export type SigResponse = Static<typeof SigResponse>;

export const SigPayload = StrictComponent('CvePayload', {
  name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$', description: 'Used as `{{name}}`' }),
  values: optional.array(text('Value', 262_144), { minItems: 1, maxItems: 2000 }),
  dictionaryId: optional.described(Id, 'Values of a dictionary instead'),
});
export type SigPayload = Static<typeof SigPayload>;
