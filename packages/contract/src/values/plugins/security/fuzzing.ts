import { type Static, Type } from 'typebox';
import { OneOf, strict } from '../../../schema.ts';
import { choice, flag, section, subset, whole } from '../../protocols/field.ts';
import { headers } from '../members/http-params.ts';
import { idByMember, idsOf } from '../members/reference.ts';
import { socketMembers } from '../members/traffic-members.ts';
import {
  item,
  listOf,
  milliseconds,
  optionalInteger,
  optionalObject,
  optionalText,
  valuesOf,
} from '../members/values.ts';
import { family } from '../metrics.ts';
import { definePlugin } from '../plugin.ts';
import { attackMetrics } from './attack-metrics.ts';
import { seed, words } from './block-policy.ts';

const mutators = [
  'bit-flip',
  'byte-flip',
  'integer-edge',
  'length-lie',
  'repeat',
  'truncate',
  'insert-random',
  'delete',
  'swap',
  'format-string',
  'unicode',
  'null-byte',
  'long-string',
  'dictionary',
  'grammar',
] as const;

const requestOf = (description: string) =>
  optionalObject(description, {
    kind: choice('Kind', ['http', 'raw', 'dns']),
    method: optionalText('Method', { maxLength: 32 }),
    path: optionalText('Path', { maxLength: 8192 }),
    version: OneOf(['1.1', '1.0', '2'], { default: '1.1', description: 'HTTP version' }),
    headers: headers('Headers'),
    body: optionalText('Body', { maxLength: 1_048_576 }),
    bodyEncoding: choice('How the body is written', ['text', 'base64']),
    transport: choice('Transport of a raw request', ['tcp', 'udp']),
    port: optionalInteger('Port', [1, 65_535]),
    data: optionalText('Bytes of a raw request', { maxLength: 1_048_576 }),
    encoding: choice('How the bytes are written', ['text', 'hex', 'base64']),
    tls: flag('By TLS'),
    qname: optionalText('Name to ask for', { maxLength: 253 }),
    qtype: choice('Type to ask for', ['A', 'AAAA', 'TXT', 'MX', 'CNAME']),
    delayMs: milliseconds('Wait before it', 0),
    waitResponse: flag('Wait for the answer', true),
  });

const spot = item({
  part: OneOf(['path', 'query', 'header', 'cookie', 'body', 'method', 'request', 'bytes'], { description: 'Part' }),
  keys: words('Names within the part'),
  keysRegex: optionalText('Pattern (RE2) of names within the part'),
  sessionIdx: optionalInteger('Session of the application, capture or HAR; all when left out', [0, 1_000_000]),
  stepIdx: optionalInteger('Message of the client in the session, from 0; all when left out', [0, 1_000_000]),
  offset: optionalInteger('First byte of the part that changes'),
  length: optionalInteger('Bytes that change; up to the end of the part when left out'),
});

const file = { 'x-reference': 'file', 'x-categories': ['pcap', 'capture'] } as const;

const schema = valuesOf({
  ...socketMembers,
  fuzzingParams: Type.Object(
    {
      protocol: OneOf(['http', 'tcp', 'udp', 'dns', 'tls', 'smtp', 'ftp'], { description: 'Protocol' }),
      baseline: section('What is changed', {
        kind: choice('A request, or what a record holds', ['request', 'application', 'pcap', 'har', 'signature']),
        id: idByMember(
          'kind',
          {
            application: { 'x-reference': 'application' },
            pcap: file,
            har: { 'x-reference': 'file', 'x-categories': ['har'] },
            signature: { 'x-reference': 'signature' },
          },
          'The record',
        ),
        request: requestOf('The request'),
      }),
      targets: listOf('Spots to change; everything when empty', spot),
      place: choice('Where the change goes', ['replace', 'prefix', 'postfix', 'infix', 'replace-regex']),
      mode: choice('One spot at a time, or several', ['single', 'multiple']),
      mutators: listOf(
        'Ways to change; all when empty',
        item({
          name: OneOf(mutators, { description: 'Way' }),
          weight: Type.Number({ default: 1, exclusiveMinimum: 0, maximum: 1_000_000, description: 'Share' }),
          options: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Of the way' })),
        }),
        100,
      ),
      payloads: section('Texts to use', {
        dictionaryIds: idsOf('dictionary', 'Dictionaries'),
        values: words('Texts', 10_000),
      }),
      seed,
      maxCases: whole('Most cases', 10_000, [1, 1_000_000_000]),
      maxSeconds: whole('Longest time', 600, [1, 31_536_000]),
      casesPerSecond: whole('Cases a second', 50, [1, 1_000_000]),
      connectionPerCase: flag('A connection for each case; off: cases of HTTP share one while it works', true),
      timeoutMs: whole('Longest wait for an answer', 3000, [1, 3_600_000]),
      health: section('Whether the target still works', {
        everyCases: whole('Look after so many cases', 50, [1, 1_000_000]),
        probe: requestOf('What is asked'),
        maxFailures: whole('Failures in a row that count', 3, [1, 1000]),
        recoverySeconds: whole('Time to come back', 60, [0, 86_400]),
      }),
      stopOn: subset('What ends it', ['health', 'count', 'time'], ['health', 'count', 'time']),
      record: choice('Cases that reports list; rates are always of all', ['failures', 'all']),
      minimise: flag('Make findings as small as possible', true),
    },
    { ...strict, description: 'What is changed, how, and how much of it' },
  ),
});

export type FuzzingValues = Static<typeof schema>;

export const fuzzing = definePlugin({
  id: 18,
  name: 'fuzzing',
  title: 'Fuzzing',
  description: 'Changed requests, each determined by seed and number, and what they do to the target.',
  kind: 'security',
  hazard: 3,
  engines: ['fuzzing'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      fuzzingParams: {
        protocol: 'http',
        baseline: { kind: 'request', request: { kind: 'http', method: 'GET', path: '/?id=1' } },
        maxCases: 1000,
      },
    },
  ],
  metrics: [...attackMetrics('fuzzing'), family('fuzzing.finding', 'kind', 'Findings by kind', 'lower')],
});
