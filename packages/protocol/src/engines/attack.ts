import { type Static, Type } from 'typebox';
import { word } from '../word.ts';
import { Listen, Sources, Target } from './endpoint.ts';
import { tlsClientSettings, tlsServerSettings } from './sockets/tls-settings.ts';

const closed = { additionalProperties: false } as const;

/** Protocol of a target or listener. Attempts refer to it by `service`. */
const carried = {
  service: Type.String({ minLength: 1, maxLength: 64 }),
  protocol: word(['http', 'raw', 'dns', 'ftp', 'smtp', 'pop3', 'imap', 'icmp']),
  transport: word(['tcp', 'udp', 'icmp'], { default: 'tcp' }),
  isTls: Type.Boolean({ default: false }),
};

/** A file encrypted with AES-256-GCM; it is decrypted in memory only. */
export const SealedFile = Type.Object(
  {
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Hash of the plaintext.' }),
    size: Type.Integer({ minimum: 0 }),
    path: Type.String({ description: 'Given as a file reference.' }),
    key: Type.String({ description: 'Base64; empty for a plaintext file.', default: '' }),
    nonce: Type.String({ description: 'Base64.', default: '' }),
    tag: Type.String({ description: 'Base64.', default: '' }),
  },
  closed,
);
export type SealedFile = Static<typeof SealedFile>;

const shared = {
  attempts: Type.String({ description: 'File of attempts, one JSON object per line; given as a file reference.' }),
  files: Type.Array(SealedFile, { default: [] }),
  runToken: Type.String({
    pattern: '^[a-z0-9]{4,32}$',
    description: 'Prefix of the tokens of all attempts of this entry.',
  }),
  proofKey: Type.String({
    minLength: 16,
    description: 'Shared by the two ends; proves that an answer comes from our server.',
  }),
  keepAlive: Type.Boolean({ default: false, description: 'Reuse HTTP connections.' }),
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
    ratePerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'Default: as fast as possible.' })),
    concurrency: Type.Integer({ minimum: 1, maximum: 10_000, default: 1 }),
    timeoutMs: Type.Integer({ minimum: 1, default: 3000, description: 'Timeout of an attempt.' }),
    followCookies: Type.Boolean({ default: false, description: 'Send cookies set by responses with later requests.' }),
    addressRotation: word(['none', 'perAttempt', 'onShun'], { default: 'none' }),
    control: Type.Object(
      {
        everyAttempts: Type.Integer({ minimum: 1, default: 10 }),
        afterSilentDrop: Type.Boolean({ default: true }),
        retries: Type.Integer({ minimum: 0, default: 2 }),
        timeoutMs: Type.Integer({ minimum: 1, default: 3000 }),
        recoveryMs: Type.Integer({
          minimum: 0,
          default: 60_000,
          description: 'Longest wait for a path that was lost.',
        }),
        host: Type.Optional(Type.String({ maxLength: 255, description: 'Host and server name of proofs by HTTP.' })),
        basePath: Type.String({ default: '/', description: 'Path of proofs by HTTP.' }),
        version: word(['1.1', '2'], { default: '1.1', description: 'Version of proofs by HTTP.' }),
        grpcPath: Type.Optional(
          Type.String({ minLength: 1, description: 'Proofs are gRPC calls of this method, over HTTP/2.' }),
        ),
      },
      { ...closed, default: {} },
    ),
    bare: Type.Optional(
      Type.Object(
        { host: Type.String(), port: Type.Integer({ minimum: 1, maximum: 65_535 }) },
        { ...closed, description: 'A path to the same server without the device; every attempt is sent there first.' },
      ),
    ),
    fuzz: Type.Optional(
      Type.Object(
        {
          recoveryMs: Type.Integer({
            minimum: 0,
            description: 'Time a stopped target has to recover.',
          }),
          maxMs: Type.Integer({ minimum: 1, description: 'No case starts after this time.' }),
          minimise: Type.Boolean({ description: 'Search for the shortest input with the same effect.' }),
          stopOnHealth: Type.Boolean({ description: 'End when a target stops.' }),
        },
        { ...closed, description: 'Fuzzing only.' },
      ),
    ),
    share: Type.Object(
      { index: Type.Integer({ minimum: 0, default: 0 }), count: Type.Integer({ minimum: 1, default: 1 }) },
      { ...closed, default: {}, description: 'Share of this client: every n-th attempt.' },
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
