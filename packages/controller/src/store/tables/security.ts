import type { AttackResult, Campaign, CampaignStep, CveSignature } from '@rushhour/contract';
import { bytes, type Column, flag, integer, json, maybeInteger, maybeText, real, text } from '../engine/column.ts';
import { files } from './assets.ts';

interface VerdictCounts {
  blocked: number;
  modified: number;
  passed: number;
  inconclusive: number;
}

/** What is known of a sample besides its file, whose id it has. */
export const malware = {
  id: integer,
  family: text,
  type: { cleared: 'other' } as Column<string, string>,
  platform: { cleared: 'any' } as Column<string, string>,
  aliases: json<string[]>([]),
  avNames: json<{ engine: string; name: string }[]>([]),
  inert: flag,
  kind: text,
  container: json<string[]>([]),
  depth: integer,
  encoding: text,
  quarantine: text as Column<'quarantined' | 'released', string>,
  quarantineReason: text,
  releasedBy: maybeInteger,
  releasedAt: maybeText,
  /** Of a release. */
  expiresAt: maybeText,
  /** The blob with the sealed content; empty where only hashes are known. */
  sealedSha256: text,
  /** Opens the sealed content; sealed itself with the key of the installation. */
  dataKey: text,
  attestedBy: maybeInteger,
  attestedAt: maybeText,
  references: json<{ type: 'url' | 'misp' | 'mb' | 'vt'; value: string }[]>([]),
  lastOutcome: { cleared: 'never' } as Column<string, string>,
  lastVerdictAt: maybeText,
  counts: json<VerdictCounts>({ blocked: 0, modified: 0, passed: 0, inconclusive: 0 }),
};

/** Samples sealed anew for the agents of one task, by the hash of the sealed bytes, which are made when they are asked for. */
export const sampleCopies = { sha256: text, sampleID: integer, scope: text, compression: text, createdAt: text };

const { kind: _, upload: _upload, expiresAt: _expiresAt, ...ofFile } = files;

/** A view: samples with their files. */
export const malwareCatalogue = { ...ofFile, ...malware };

const maybeReal: Column<number | null, number | null> = { cleared: null };
const textOr = <Word extends string>(cleared: Word): Column<Word, string> =>
  ({ cleared }) as unknown as Column<Word, string>;

/** What signatures are searched and sorted by. Rows are short on purpose: a search may look at every one of them. */
export const cveSignatures = {
  id: integer,
  name: text,
  severity: textOr<CveSignature['severity']>('unknown'),
  severityRank: integer,
  cvssScore: maybeReal,
  epssScore: maybeReal,
  kev: flag,
  year: maybeInteger,
  vendor: text,
  product: text,
  protocol: textOr<CveSignature['protocol']>('http'),
  direction: textOr<CveSignature['direction']>('c2s'),
  category: textOr<CveSignature['category']>('other'),
  safety: textOr<CveSignature['safety']>('unreviewed'),
  enabled: flag,
  source: textOr<CveSignature['source']>('user'),
  sourceRef: text,
  fingerprint: text,
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

/** What a list shows besides. */
export type CveDetails = Pick<
  CveSignature,
  | 'description'
  | 'cveIDs'
  | 'cweIDs'
  | 'cvssVersion'
  | 'cvssVector'
  | 'epssPercentile'
  | 'publishedAt'
  | 'cpe'
  | 'techniques'
  | 'tags'
  | 'remediation'
  | 'references'
  | 'sourceFileID'
  | 'sourceSha256'
  | 'licence'
  | 'warnings'
>;

/** What it sends and answers. */
export type CveContent = Pick<
  CveSignature,
  'requests' | 'responses' | 'variables' | 'payloads' | 'combine' | 'maxAttempts' | 'expect'
>;

export const cveDetails = {
  signatureID: integer,
  details: json<CveDetails | null>(null),
  content: json<CveContent | null>(null),
  /** The template, where it has no hash. */
  raw: text,
  sourceHash: text,
};

/** Templates that signatures were made from, by the hash of their file. */
export const cveSources = { sha256: text, raw: text };

/** CVE ids, CWE ids, techniques and tags, one row each. */
export const cveLabels = { signatureID: integer, kind: text, value: text };

/** What `search` looks into, folded to lower case. */
export const cveTexts = { signatureID: integer, haystack: text };

/** Campaigns that came with imported tasks. Their ids begin where those that are shipped end. */
export const campaigns = {
  id: integer,
  name: text,
  description: text,
  version: integer,
  tags: text,
  parameters: json<Campaign['parameters']>([]),
  steps: json<CampaignStep[]>([]),
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};

/** What the attempts of a run are: one file for each entry, as its agents got it. */
export const runAttempts = {
  runID: integer,
  sha256: text,
  /** Jobs that use it, `[agentID, orderIndex, startAfterSec]` each. */
  orders: json<[agentID: number, orderIndex: number, startAfterSec: number][]>([]),
  /** What counts as stopped. */
  policy: json<Record<string, unknown>>({}),
  size: integer,
  /** Lines of JSON, compressed. */
  data: bytes,
};

/** What one second of one job told of single attempts. */
export const runRecords = {
  runID: integer,
  agentID: integer,
  orderIndex: integer,
  seq: integer,
  /** A list, compressed JSON. */
  data: bytes,
};

export const attackResults = {
  id: integer,
  taskID: integer,
  runID: integer,
  /** Which run of the task. */
  iteration: integer,
  kind: text,
  refID: integer,
  refName: text,
  variant: text,
  category: text,
  attemptID: text,
  expected: text,
  severity: text,
  techniques: json<string[]>([]),
  direction: text,
  client: json<AttackResult['client']>({} as AttackResult['client']),
  server: json<AttackResult['server']>({} as AttackResult['server']),
  outcome: text,
  mechanism: maybeText,
  detected: text,
  alerts: json<AttackResult['alerts']>([]),
  confidence: text,
  reason: text,
  /** What the path changed on the way, in words. */
  changes: json<string[]>([]),
  control: json<AttackResult['control']>({ before: false, after: false }),
  /** Name of the device under test, as the labels of the run tell it. */
  device: text,
  startedAt: text,
  durationMs: real,
  /** Beginning of an answer that was not ours, base64. */
  excerpt: text,
};
