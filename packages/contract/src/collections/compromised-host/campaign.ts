import { type Static, Type } from 'typebox';
import { Id, Tags, Timestamp } from '../../scalars.ts';
import { Component, OneOf, optional, StrictComponent, StrictObject } from '../../schema.ts';

export const campaignTactics = [
  'reconnaissance',
  'initial-access',
  'execution',
  'credential-access',
  'discovery',
  'lateral-movement',
  'collection',
  'command-and-control',
  'exfiltration',
] as const;

export const campaignActions = [
  'dns-query',
  'dga-lookup',
  'dns-tunnel',
  'dns-exfil',
  'http-beacon',
  'https-beacon',
  'tcp-beacon',
  'icmp-beacon',
  'nonstandard-port',
  'doh-query',
  'file-download',
  'http-exfil',
  'smtp-exfil',
  'ftp-exfil',
  'chunked-exfil',
  'port-scan',
  'service-probe',
  'host-sweep',
  'login-spray',
  'smb-probe',
  'encoded-channel',
  'proxy-connect',
  'wait',
] as const;

export const campaignProtocols = [
  'http',
  'https',
  'dns',
  'doh',
  'tcp',
  'udp',
  'icmp',
  'smtp',
  'ftp',
  'irc',
  'smb',
] as const;

export const techniquePattern = '^T\\d{4}(\\.\\d{3})?$';
const Technique = Type.String({ pattern: techniquePattern, description: 'ATT&CK technique' });
const milliseconds = (maximum: number, description: string) => Type.Integer({ minimum: 0, maximum, description });

export const CampaignStep = StrictComponent('CampaignStep', {
  idx: Type.Integer({ minimum: 0, maximum: 199 }),
  name: Type.String({ minLength: 1, maxLength: 128 }),
  tactic: OneOf(campaignTactics),
  technique: Type.Unsafe<string>({
    type: 'string',
    pattern: '^(T\\d{4}(\\.\\d{3})?)?$',
    description: 'ATT&CK technique; empty for a wait',
  }),
  action: OneOf(campaignActions, { description: 'What is done on the network; never anything on a host' }),
  direction: OneOf(['outbound', 'inbound', 'lateral']),
  protocol: OneOf(campaignProtocols),
  port: Type.Integer({ minimum: 0, maximum: 65_535, description: '0 where the protocol has none' }),
  params: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    // Declared here because they refer to records, which count as used by tasks with an inline campaign.
    properties: {
      dictionaryId: { ...Id, 'x-reference': 'dictionary' },
      fileID: { ...Id, 'x-reference': 'file', 'x-categories': ['malware'] },
    },
    additionalProperties: {},
    description: 'Of the action; {{name}} stands for a parameter of the campaign',
  }),
  delayMs: milliseconds(3_600_000, 'Wait before each time'),
  jitterPct: Type.Integer({ minimum: 0, maximum: 100, description: 'How much waits differ' }),
  repeat: Type.Integer({ minimum: 1, maximum: 1000, description: 'Times it is done' }),
  requires: Type.Array(Type.Integer({ minimum: 0, maximum: 199 }), {
    maxItems: 32,
    description: 'Steps before it of which something must have come through',
  }),
  onBlocked: OneOf(['continue', 'stop', 'next-channel']),
  expect: OneOf(['block', 'detect', 'allow'], { description: 'What a good device does' }),
  remediation: Type.String({ maxLength: 2048 }),
});
export type CampaignStep = Static<typeof CampaignStep>;

const CampaignParameter = StrictObject({
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9]{0,63}$' }),
  type: OneOf(['integer', 'string']),
  default: Type.String({ maxLength: 4096 }),
  min: Type.String({ maxLength: 32 }),
  max: Type.String({ maxLength: 32 }),
  description: Type.String({ maxLength: 1024 }),
});

/** A campaign written inline in a task. */
export const CampaignDraft = StrictObject({
  name: Type.String({ minLength: 1, maxLength: 128 }),
  description: optional.text(4096),
  tags: Type.Optional(Tags),
  parameters: optional.array(CampaignParameter, { maxItems: 64 }),
  steps: Type.Array(CampaignStep, { minItems: 1, maxItems: 200 }),
});
export type CampaignDraft = Static<typeof CampaignDraft>;

export const Campaign = Component('Campaign', {
  id: Id,
  name: Type.String(),
  description: Type.String(),
  version: Type.Integer(),
  tags: Type.String(),
  builtin: Type.Boolean(),
  tactics: Type.Array(OneOf(campaignTactics)),
  techniques: Type.Array(Technique),
  protocols: Type.Array(OneOf(campaignProtocols)),
  attackVersion: Type.String({ description: 'Which edition of ATT&CK its techniques are of' }),
  estimatedMs: Type.Integer({ description: 'With the defaults of its parameters, if nothing is stopped' }),
  services: Type.Array(Type.String(), { description: 'What the server agent plays' }),
  parameters: Type.Array(CampaignParameter),
  steps: optional.array(CampaignStep, { description: 'On request' }),
  references: Type.Array(Type.Object({ type: OneOf(['attack', 'url']), value: Type.String() })),
  fingerprint: Type.String({ description: 'SHA-256 of what it does' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Campaign = Static<typeof Campaign>;
