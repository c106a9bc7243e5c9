import { type Static, Type } from 'typebox';
import { word } from '../word.ts';
import { Listen, Sources, Target } from './endpoint.ts';
import { tlsClientSettings, tlsServerSettings } from './tls-settings.ts';

const closed = { additionalProperties: false } as const;

/** What a target or listener carries. Attempts name it by `service`. */
const carried = {
  service: Type.String({ minLength: 1, maxLength: 64 }),
  protocol: word(['http', 'raw', 'dns', 'ftp', 'smtp', 'pop3', 'imap', 'icmp']),
  transport: word(['tcp', 'udp', 'icmp'], { default: 'tcp' }),
  isTls: Type.Boolean({ default: false }),
};

/** A file sealed with AES-256-GCM; it is opened in memory only. */
export const SealedFile = Type.Object(
  {
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the plain bytes.' }),
    size: Type.Integer({ minimum: 0 }),
    path: Type.String({ description: 'Written as a file reference.' }),
    key: Type.String({ description: 'Base64; empty when the file is plain.', default: '' }),
    nonce: Type.String({ description: 'Base64.', default: '' }),
    tag: Type.String({ description: 'Base64.', default: '' }),
  },
  closed,
);
export type SealedFile = Static<typeof SealedFile>;

const shared = {
  attempts: Type.String({ description: 'File of attempts, one JSON object a line; written as a file reference.' }),
  files: Type.Array(SealedFile, { default: [] }),
  runToken: Type.String({
    pattern: '^[a-z0-9]{4,32}$',
    description: 'Begins the token of every attempt; what bears another is not of this entry.',
  }),
  proofKey: Type.String({ minLength: 16, description: 'Only the two ends know it: proves that an answer is ours.' }),
  keepAlive: Type.Boolean({ default: false, description: 'Connections of HTTP carry more than one request.' }),
  marker: Type.Boolean({ default: true, description: 'Mark HTTP requests with X-Traffic-Test.' }),
};

export const AttackTarget = Type.Object({ ...Target.properties, ...carried }, closed);
export type AttackTarget = Static<typeof AttackTarget>;

export const AttackClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(AttackTarget, { minItems: 1 }),
    sources: Sources,
    tls: tlsClientSettings({ default: {} }),
    ...shared,
    ratePerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'As fast as possible without.' })),
    concurrency: Type.Integer({ minimum: 1, maximum: 10_000, default: 1 }),
    timeoutMs: Type.Integer({ minimum: 1, default: 3000, description: 'Silence that ends an attempt.' }),
    followCookies: Type.Boolean({ default: false, description: 'Cookies that answers set go with later requests.' }),
    addressRotation: word(['none', 'perAttempt', 'onShun'], { default: 'none' }),
    control: Type.Object(
      {
        everyAttempts: Type.Integer({ minimum: 1, default: 10 }),
        afterSilentDrop: Type.Boolean({ default: true }),
        retries: Type.Integer({ minimum: 0, default: 2 }),
        timeoutMs: Type.Integer({ minimum: 1, default: 3000 }),
      },
      { ...closed, default: {} },
    ),
    fuzz: Type.Optional(
      Type.Object(
        {
          recoveryMs: Type.Integer({
            minimum: 0,
            description: 'How long a target that stopped may take to come back.',
          }),
          maxMs: Type.Integer({ minimum: 1, description: 'No case begins after so long.' }),
          minimise: Type.Boolean({ description: 'Look for the least input that does it.' }),
          stopOnHealth: Type.Boolean({ description: 'The first target that stops ends it.' }),
        },
        { ...closed, description: 'Only of fuzzing.' },
      ),
    ),
    share: Type.Object(
      { index: Type.Integer({ minimum: 0, default: 0 }), count: Type.Integer({ minimum: 1, default: 1 }) },
      { ...closed, default: {}, description: 'Which part of the attempts is this client’s: every n-th.' },
    ),
  },
  closed,
);
export type AttackClientConfig = Static<typeof AttackClientConfig>;

export const AttackServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    listen: Type.Array(Type.Object({ ...Listen.properties, ...carried }, closed), { minItems: 1 }),
    tls: tlsServerSettings({ default: {} }),
    ...shared,
  },
  closed,
);
export type AttackServerConfig = Static<typeof AttackServerConfig>;
export type AttackListen = AttackServerConfig['listen'][number];

export const AttackConfig = Type.Union([AttackClientConfig, AttackServerConfig]);
export type AttackConfig = Static<typeof AttackConfig>;
