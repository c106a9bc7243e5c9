import { type Static, Type } from 'typebox';
import { Description, Id, NullableTimestamp, Tags, Timestamp } from '../../scalars.ts';
import { Component, Nullable, OneOf, optional, StrictComponent } from '../../schema.ts';
import { Issuer } from '../users.ts';
import { SigPayload, SigRequest, SigResponse } from './messages.ts';

export const severities = ['info', 'low', 'medium', 'high', 'critical', 'unknown'] as const;
export const signatureProtocols = ['http', 'tcp', 'udp', 'dns', 'tls', 'smtp', 'ftp'] as const;
export const signatureDirections = ['c2s', 's2c', 'both'] as const;
/** In ascending order of harm. */
export const safeties = ['benign', 'unreviewed', 'intrusive', 'dos'] as const;
export const signatureSources = ['builtin', 'user', 'nuclei', 'ftw', 'gotestwaf', 'http-raw', 'pcap'] as const;
export const signatureCategories = [
  'sqli',
  'xss',
  'rce',
  'command-injection',
  'path-traversal',
  'lfi',
  'rfi',
  'ssrf',
  'xxe',
  'ssti',
  'ldap',
  'nosql',
  'crlf',
  'deserialization',
  'auth-bypass',
  'info-leak',
  'file-upload',
  'protocol-anomaly',
  'scanner',
  'other',
] as const;

const cvssVersions = ['', '2.0', '3.0', '3.1', '4.0'] as const;
const combinations = ['batteringram', 'pitchfork', 'clusterbomb'] as const;

const maybeNumber = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Nullable(Type.Number({ minimum, maximum, description })));
const short = (description: string, maxLength = 128) => optional.text(maxLength, description);

const Reference = StrictComponent('CveReference', {
  type: OneOf(['cve', 'cwe', 'url', 'vendor', 'edb'], { description: 'What the value is' }),
  value: Type.String({ minLength: 1, maxLength: 2048 }),
});

const Expectation = StrictComponent('CveExpectation', {
  action: OneOf(['block', 'detect', 'allow'], { description: 'What a good device does with it' }),
  ruleIDs: optional.array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: 100,
    description: 'Rules that should fire',
  }),
});

const idsLike = (pattern: string, description: string) =>
  optional.array(Type.String({ pattern, maxLength: 32 }), { maxItems: 64, uniqueItems: true, description });

const classification = {
  description: Type.Optional(Description),
  cveIDs: idsLike('^CVE-\\d{4}-\\d{4,19}$', 'CVE ids'),
  cweIDs: idsLike('^CWE-\\d{1,9}$', 'CWE ids'),
  severity: optional.oneOf(severities, { description: 'Follows the CVSS score unless said, else unknown' }),
  cvssVersion: optional.oneOf(cvssVersions),
  cvssScore: maybeNumber(0, 10, 'CVSS base score; must be that of the vector where both are given'),
  cvssVector: short('CVSS vector', 256),
  epssScore: maybeNumber(0, 1, 'Probability of exploitation'),
  epssPercentile: maybeNumber(0, 1, 'Share of all CVE with a lower score'),
  kev: optional.flag('Known to be exploited'),
  publishedAt: Type.Optional(Type.Unsafe<string | null>({ ...NullableTimestamp, format: 'date-time' })),
  vendor: short('Vendor of the product'),
  product: short('Product'),
  cpe: short('CPE 2.3 name', 512),
  techniques: idsLike('^T\\d{4}(\\.\\d{3})?$', 'ATT&CK techniques'),
  protocol: optional.oneOf(signatureProtocols, { description: 'Follows the first request unless said' }),
  direction: optional.oneOf(signatureDirections, { description: 'Where the attack goes; c2s unless said' }),
  category: optional.oneOf(signatureCategories, { description: 'other unless said' }),
  tags: Type.Optional(Tags),
  remediation: Type.Optional(Description),
  references: optional.array(Reference, { maxItems: 100 }),
  licence: short('Licence of the template'),
};

const content = {
  requests: Type.Array(SigRequest, { minItems: 1, maxItems: 20, description: 'What the client sends, in order' }),
  responses: optional.array(SigResponse, {
    maxItems: 20,
    description: 'What the server answers; an empty 200 unless said',
  }),
  variables: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$' }), Type.String({ maxLength: 4096 }), {
      maxProperties: 64,
      description: 'Names that messages may use as `{{name}}`; values may call the allowed functions',
    }),
  ),
  payloads: optional.array(SigPayload, { maxItems: 16, description: 'Lists to draw `{{name}}` from' }),
  combine: optional.oneOf(combinations, {
    description: 'The same value everywhere, lists side by side, or every combination; batteringram unless said',
  }),
  maxAttempts: optional.integer([1, 2000], 'Most attempts that payloads may make; 50 unless said'),
  expect: Type.Optional(Expectation),
};

export const CveDraft = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 256, pattern: '^\\S(.*\\S)?$', description: 'Name' }),
  ...classification,
  safety: optional.oneOf(safeties, {
    description: 'Computed from the content; less than that needs the permission cve.review',
  }),
  enabled: optional.flag('May be run; true unless said where the signature is benign'),
  ...content,
});
export type CveDraft = Static<typeof CveDraft>;

const maybe = <T>(type: string, description: string) => Type.Unsafe<T | null>({ type: [type, 'null'], description });

const described = {
  id: Id,
  name: Type.String(),
  description: Type.String(),
  cveIDs: Type.Array(Type.String()),
  cweIDs: Type.Array(Type.String()),
  severity: OneOf(severities),
  cvssVersion: OneOf(cvssVersions),
  cvssScore: maybe<number>('number', 'CVSS base score'),
  cvssVector: Type.String(),
  epssScore: maybe<number>('number', 'Probability of exploitation'),
  epssPercentile: maybe<number>('number', 'Share of all CVE with a lower score'),
  kev: Type.Boolean({ description: 'Known to be exploited' }),
  year: maybe<number>('integer', 'Of the first CVE id, else of the publication'),
  publishedAt: NullableTimestamp,
  vendor: Type.String(),
  product: Type.String(),
  cpe: Type.String(),
  techniques: Type.Array(Type.String()),
  protocol: OneOf(signatureProtocols),
  direction: OneOf(signatureDirections),
  category: OneOf(signatureCategories),
  safety: OneOf(safeties),
  enabled: Type.Boolean(),
  tags: Type.String(),
  remediation: Type.String(),
  references: Type.Array(Reference),
  source: OneOf(signatureSources, { description: 'Where it comes from' }),
  sourceRef: Type.String({ description: 'Its name there' }),
  sourceFileID: maybe<number>('integer', 'The file it was made from'),
  sourceSha256: Type.String({ description: 'SHA-256 of the template' }),
  licence: Type.String(),
  fingerprint: Type.String({ description: 'SHA-256 of the canonical form' }),
  warnings: Type.Array(Type.String(), { description: 'What of the template could not be taken' }),
  issuerID: maybe<number>('integer', 'Author'),
  issuer: Issuer,
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

/** A signature as listed, without requests and responses. */
export const CveSummary = Component('CveSummary', described);
export type CveSummary = Static<typeof CveSummary>;

export const CveSignature = Component('CveSignature', {
  ...described,
  requests: Type.Array(Type.Unsafe<SigRequest>({ description: 'A CveRequest, see the body of create' })),
  responses: Type.Array(SigResponse),
  variables: Type.Record(Type.String(), Type.String()),
  payloads: Type.Array(SigPayload),
  combine: OneOf(combinations),
  maxAttempts: Type.Integer(),
  expect: Expectation,
  raw: optional.string({ description: 'The template, with `include=raw`' }),
  usedBy: optional.array(Type.Object({ kind: Type.String(), id: Id, name: Type.String() }), {
    description: 'Who uses it, with `include=references`',
  }),
});
export type CveSignature = Static<typeof CveSignature>;

export const CveLight = Component('CveLight', {
  id: Id,
  name: Type.String(),
  cveIDs: Type.Array(Type.String()),
  severity: OneOf(severities),
  protocol: OneOf(signatureProtocols),
  safety: OneOf(safeties),
  enabled: Type.Boolean(),
});
