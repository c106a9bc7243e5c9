import { type Static, Type } from 'typebox';
import { DrawnText } from '../drawn-text.ts';
import { Listen, Rotation, Sources, Target } from '../endpoint.ts';
import { DataPath } from '../hosts/data-path.ts';
import { loadOf } from '../load.ts';
import { tlsClientSettings, tlsServerSettings } from './tls-settings.ts';

const Transport = Type.Union(
  [Type.Literal('udp'), Type.Literal('tcp'), Type.Literal('dot'), Type.Literal('doh'), Type.Literal('doq')],
  { default: 'udp' },
);

export const DnsType = Type.Union([
  Type.Literal('A'),
  Type.Literal('AAAA'),
  Type.Literal('CNAME'),
  Type.Literal('MX'),
  Type.Literal('NS'),
  Type.Literal('PTR'),
  Type.Literal('SOA'),
  Type.Literal('SRV'),
  Type.Literal('TXT'),
  Type.Literal('ANY'),
]);

export const DnsClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(Target, { minItems: 1 }),
    rotation: Rotation,
    sources: Sources,
    dataPath: Type.Optional(DataPath),
    transport: Transport,
    tls: tlsClientSettings({ default: {} }),
    path: Type.String({ pattern: '^/[^\\s]*$', default: '/dns-query', description: 'DNS over HTTPS only.' }),
    names: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { default: [] }),
    drawn: Type.Optional(DrawnText),
    types: Type.Array(DnsType, { minItems: 1, default: ['A'] }),
    randomPrefix: Type.Boolean({
      default: false,
      description: 'Prefix each name with a random label to bypass caches.',
    }),
    edns: Type.Optional(
      Type.Object(
        {
          size: Type.Integer({ minimum: 512, maximum: 65_535, default: 1232 }),
          dnssec: Type.Boolean({ default: false }),
        },
        { additionalProperties: false },
      ),
    ),
    recursion: Type.Boolean({ default: true }),
    timeoutMs: Type.Integer({ minimum: 1, default: 2000 }),
    retries: Type.Integer({ minimum: 0, maximum: 10, default: 0 }),
    sockets: Type.Integer({ minimum: 1, maximum: 10_000, default: 4 }),
    concurrency: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 100,
      description: 'Maximum number of queries in flight.',
    }),
    load: loadOf('Queries per second.'),
  },
  { additionalProperties: false },
);
export type DnsClientConfig = Static<typeof DnsClientConfig>;

const Answer = Type.Object(
  {
    name: Type.String({ description: 'Owner name; a leading *. matches all names below, * alone all names.' }),
    type: DnsType,
    ttl: Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 60 }),
    data: Type.String({ description: 'As in a zone file: an address, a name, "10 mail.example.com", a text.' }),
  },
  { additionalProperties: false },
);

export const DnsServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    dataPath: Type.Optional(DataPath),
    listen: Type.Array(Type.Object({ ...Listen.properties, transport: Transport }, { additionalProperties: false }), {
      minItems: 1,
      description: 'UDP and TCP may share a port.',
    }),
    tls: tlsServerSettings({ default: {} }),
    answers: Type.Array(Answer, { default: [], description: 'Names without an answer are NXDOMAIN.' }),
    delayMs: Type.Number({ minimum: 0, default: 0 }),
    path: Type.String({ pattern: '^/[^\\s]*$', default: '/dns-query' }),
  },
  { additionalProperties: false },
);
export type DnsServerConfig = Static<typeof DnsServerConfig>;

export const DnsConfig = Type.Union([DnsClientConfig, DnsServerConfig]);
export type DnsConfig = Static<typeof DnsConfig>;
