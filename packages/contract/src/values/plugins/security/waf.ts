import { type Static, Type } from 'typebox';
import { OneOf, strict } from '../../../schema.ts';
import { choice, flag, section, subset, whole } from '../../protocols/field.ts';
import { attackHttpParams, headers } from '../members/http-params.ts';
import { idsOf } from '../members/reference.ts';
import { tlsParams } from '../members/tls-params.ts';
import { socketMembers } from '../members/traffic-members.ts';
import { item, listOf, optionalText, valuesOf } from '../members/values.ts';
import { definePlugin } from '../plugin.ts';
import { attackMetrics } from './attack-metrics.ts';
import { blockPolicy, calibration, clientIpRotation, packetForm, seed, words } from './block-policy.ts';

const moduleNames = [
  'sql-injection',
  'xss',
  'rce',
  'command-injection',
  'path-traversal',
  'lfi',
  'ldap-injection',
  'nosql-injection',
  'crlf',
  'ssti',
  'ssi',
  'xxe',
  'xml-injection',
  'mail-injection',
  'user-agent',
  'graphql',
  'rest',
  'soap',
  'grpc',
  'large-body',
  'ssrf',
  'deserialization',
  'broken-authentication',
  'access-control',
  'mass-assignment',
  'resource-consumption',
  'exposed-resources',
  'protocol-anomaly',
  'custom',
] as const;

const encoders = [
  'plain',
  'url',
  'url-double',
  'base64',
  'base64-flat',
  'js-unicode',
  'html-entity',
  'xml-entity',
  'utf16le',
  'case-mix',
  'comment-split',
] as const;

const placeholders = [
  'url-path',
  'raw-path',
  'url-param',
  'header',
  'user-agent',
  'cookie',
  'authorization',
  'body',
  'form',
  'multipart',
  'json-body',
  'json-request',
  'json-object',
  'xml-body',
  'soap-body',
  'graphql',
  'graphql-query',
  'grpc',
  'raw',
] as const;

const wafModule = item({
  name: OneOf(moduleNames, { description: 'Kind of attack' }),
  enabled: flag('Use it', true),
  encoders: subset('Ways to write a payload', encoders, ['plain']),
  placeholders: subset('Places to put it; the natural ones of the attack when empty', placeholders, []),
  payloadSet: choice('Built-in payloads: the classic ones, or these and all that are made from their parts', [
    'core',
    'extended',
  ]),
  dictionaryIds: idsOf('dictionary', 'Dictionaries of payloads, instead of the built-in ones'),
  signatureIds: idsOf('signature', 'Signatures'),
  maxRequests: whole('Most requests', 500, [1, 1_000_000]),
  padKb: listOf('Kilobytes put before the payload', Type.Integer({ minimum: 0, maximum: 1024 }), 16),
});

const schema = valuesOf({
  ...socketMembers,
  httpParams: attackHttpParams(3000),
  tlsParams,
  wafModules: Type.Object(
    {
      modules: Type.Array(wafModule, { minItems: 1, maxItems: 100, description: 'Attacks' }),
      benign: section('Harmless requests among them', {
        enabled: flag('Send some', true),
        content: choice('Texts in the places below, or whole requests as sites get them', ['texts', 'sites']),
        dictionaryIds: idsOf('dictionary', 'Dictionaries of harmless texts'),
        sample: whole('How many', 500, [1, 1_000_000]),
        placeholders: subset('Places', placeholders, ['url-param', 'json-body']),
      }),
      http: section('How they are sent', {
        versions: subset('HTTP versions', ['1.1', '2'], ['1.1']),
        methods: words('Methods', 16),
        basePath: Type.String({ default: '/', maxLength: 1024, pattern: '^/[^\\s]*$', description: 'Path before all' }),
        headers: headers('Headers'),
        hosts: words('Names of hosts', 100),
        tls: flag('By TLS'),
        grpc: section('Calls of the place grpc, which go over HTTP/2', {
          method: Type.String({
            default: '/search.SearchService/Search',
            maxLength: 512,
            pattern: '^/[A-Za-z_][A-Za-z0-9_.]*/[A-Za-z_][A-Za-z0-9_]*$',
            description: 'Service and method',
          }),
          proto: optionalText(
            'Description of the method: a whole `.proto` file in the syntax proto3, without imports; else the message is ours, with payloads in a field and in a message inside',
            { maxLength: 131_072 },
          ),
          messageJson: optionalText('Content of the message of `proto` as JSON; {{payload}} in its texts is replaced', {
            maxLength: 16_384,
          }),
        }),
        keepAlive: flag('More than one request on a connection', true),
        followCookies: flag('Send cookies back'),
      }),
      order: choice('Order', ['shuffle', 'sequential']),
      seed,
      ratePerSecond: whole('Requests per second', 20, [1, 100_000]),
      concurrency: whole('Requests at once', 4, [1, 10_000]),
      packets: packetForm,
      clientIpRotation: clientIpRotation('perRequest'),
      allowIntrusive: flag('Signatures that may do harm, too'),
      calibration,
      detection: blockPolicy,
    },
    { ...strict, description: 'Attacks, harmless requests, and what counts as stopped' },
  ),
});

export type WafValues = Static<typeof schema>;

export const waf = definePlugin({
  id: 15,
  name: 'waf',
  title: 'Web application firewall',
  description:
    'Attacks on web applications and harmless requests among them: what a firewall stops, and what it should not.',
  kind: 'security',
  hazard: 2,
  engines: ['waf'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      wafModules: { modules: [{ name: 'sql-injection', encoders: ['plain', 'url'] }, { name: 'xss' }] },
    },
  ],
  metrics: attackMetrics('waf'),
});
