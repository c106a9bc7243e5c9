import { type Static, Type } from 'typebox';
import { Listen, Rotation, Sources, Target } from './endpoint.ts';
import { loadOf } from './load.ts';
import { tlsClientSettings, tlsServerSettings } from './tls-settings.ts';

const Transport = Type.Union([Type.Literal('udp'), Type.Literal('tcp'), Type.Literal('dot'), Type.Literal('doh')], {
  default: 'udp',
});

export const DnsType = Type.Union(
  ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT', 'ANY'].map((name) => Type.Literal(name)),
);

export const DnsClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(Target, { minItems: 1 }),
    rotation: Rotation,
    sources: Sources,
    transport: Transport,
    tls: tlsClientSettings({ default: {} }),
    path: Type.String({ pattern: '^/[^\\s]*$', default: '/dns-query', description: 'DNS over HTTPS only.' }),
    names: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { minItems: 1 }),
    types: Type.Array(DnsType, { minItems: 1, default: ['A'] }),
    randomPrefix: Type.Boolean({
      default: false,
      description: 'Put a fresh label before each name, past every cache.',
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
    concurrency: Type.Integer({ minimum: 1, maximum: 100_000, default: 100, description: 'Most queries under way.' }),
    load: loadOf('Queries a second.'),
  },
  { additionalProperties: false },
);
export type DnsClientConfig = Static<typeof DnsClientConfig>;

const Answer = Type.Object(
  {
    name: Type.String({ description: 'Owner; a leading *. matches every name below.' }),
    type: DnsType,
    ttl: Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 60 }),
    data: Type.String({ description: 'As in a zone file: an address, a name, "10 mail.example.com", a text.' }),
  },
  { additionalProperties: false },
);

export const DnsServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    listen: Type.Array(Listen, { minItems: 1 }),
    transports: Type.Array(Transport, { minItems: 1, default: ['udp', 'tcp'] }),
    tls: tlsServerSettings({ default: {} }),
    answers: Type.Array(Answer, { default: [], description: 'A name without any answer is NXDOMAIN.' }),
    delayMs: Type.Number({ minimum: 0, default: 0 }),
    path: Type.String({ pattern: '^/[^\\s]*$', default: '/dns-query' }),
  },
  { additionalProperties: false },
);
export type DnsServerConfig = Static<typeof DnsServerConfig>;

export const DnsConfig = Type.Union([DnsClientConfig, DnsServerConfig]);
export type DnsConfig = Static<typeof DnsConfig>;
