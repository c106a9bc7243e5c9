import { type Static, Type } from 'typebox';
import { OneOf } from '../../../schema.ts';
import { choice, flag, section, whole } from '../../protocols/field.ts';
import { optionalIdOf } from '../members/reference.ts';
import { tlsParams } from '../members/tls-params.ts';
import { socketMembers } from '../members/traffic-members.ts';
import { address, item, listOf, milliseconds, optionalObject, requestLoad, valuesOf } from '../members/values.ts';
import {
  alertsOf,
  bytes,
  counter,
  errorsOf,
  family,
  generatorMetrics,
  latency,
  loadMetricsOf,
  quicPacketMetricsOf,
} from '../metrics.ts';
import { definePlugin } from '../plugin.ts';

const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'] as const;

const answer = item({
  name: Type.String({ minLength: 1, maxLength: 253, description: 'Owner; a leading *. matches every name below' }),
  type: OneOf(recordTypes, { description: 'Type' }),
  ttl: whole('Time to live in seconds', 60, [0, 2_147_483_647]),
  data: Type.String({
    maxLength: 4096,
    description: 'As in a zone file: an address, a name, "10 mail.example.com", a text',
  }),
});

const dnsParams = section('DNS of both sides', {
  transport: choice('Plain by UDP or TCP, by TLS, by HTTPS, or by QUIC', ['udp', 'tcp', 'dot', 'doh', 'doq']),
  server: address('Server outside to ask, the same as a target with only `ip`'),
  names: listOf('Names to ask for in turn', Type.String({ minLength: 1, maxLength: 253 }), 10_000),
  dictionaryId: optionalIdOf('dictionary', 'Dictionary of names instead of `names`'),
  types: Type.Array(OneOf([...recordTypes, 'ANY']), {
    default: ['A'],
    minItems: 1,
    maxItems: 10,
    description: 'Types in turn',
  }),
  randomPrefix: flag('Put a fresh label before each name, past every cache'),
  edns: optionalObject('Extended DNS', {
    size: whole('Largest answer by UDP', 1232, [512, 65_535]),
    do: flag('Ask for DNSSEC records'),
  }),
  recursion: flag('Ask for recursion', true),
  timeoutMs: whole('Longest wait for an answer', 2000, [1, 3_600_000]),
  retries: whole('Times a query is sent again', 0, [0, 10]),
  sockets: whole('Sockets or connections of each agent', 4, [1, 10_000]),
  concurrency: whole('Most queries under way, of each agent', 100, [1, 100_000]),
  path: Type.String({ default: '/dns-query', maxLength: 1024, pattern: '^/[^\\s]*$', description: 'By HTTPS only' }),
  answers: listOf('What the server knows; every other name does not exist', answer, 10_000),
  delayMs: milliseconds('Wait of the server before each answer', 0),
});

const schema = valuesOf({ ...socketMembers, dnsParams, tlsParams, ...requestLoad });
export type DnsValues = Static<typeof schema>;

export const dns = definePlugin({
  id: 4,
  name: 'dns',
  title: 'DNS',
  description:
    'Queries by UDP, TCP, TLS, HTTPS or QUIC, and a server that answers them from a list. A name without any answer does not exist (NXDOMAIN).',
  kind: 'traffic',
  hazard: 1,
  canPause: true,
  canChangeLoad: true,
  engines: ['dns'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      dnsParams: {
        names: ['www.example.test'],
        answers: [{ name: 'www.example.test', type: 'A', data: '192.0.2.10' }],
      },
      requestsPerSecond: 500,
      duration: { mode: 'time', seconds: 10 },
    },
  ],
  metrics: [
    counter('dns.queries', 'Queries sent, repeated ones included', { better: 'higher' }),
    counter('dns.answers', 'Answers received', { better: 'higher' }),
    family('dns.rcode', 'rcode', 'Answers by response code, such as dns.rcode.NXDOMAIN'),
    counter('dns.timeouts', 'Queries without an answer', { better: 'lower' }),
    counter('dns.retries', 'Queries sent again', { better: 'lower' }),
    counter('dns.late', 'Answers that came too late', { better: 'lower' }),
    counter('dns.mismatched', 'Answers to another question', { better: 'lower' }),
    counter('dns.truncated', 'Answers cut off', { better: 'lower' }),
    counter('dns.connections', 'Connections opened by TCP, TLS, HTTPS or QUIC'),
    counter('dns.resumed', 'Connections whose TLS session was resumed'),
    latency('dns.connect', 'Opening of connections'),
    ...quicPacketMetricsOf('dns'),
    latency('dns.latency', 'From the time a query was due to its answer'),
    latency('dns.service', 'From the time a query was sent last to its answer'),
    bytes('dns.txBytes', 'Bytes of messages sent'),
    bytes('dns.rxBytes', 'Bytes of messages received'),
    counter('dns.received', 'Queries that reached the server'),
    counter('dns.answered', 'Queries the server answered'),
    ...alertsOf('dns'),
    errorsOf('dns'),
    ...loadMetricsOf('dns'),
    ...generatorMetrics,
  ],
});
