import { type Static, Type } from 'typebox';
import { word } from '../word.ts';
import { Listen, Rotation, Sources, Target } from './endpoint.ts';
import { tlsClientSettings, tlsServerSettings } from './tls-settings.ts';

const closed = { additionalProperties: false } as const;

export const HarReplayTarget = Type.Object(
  {
    ...Target.properties,
    place: Type.Integer({ minimum: 0, description: 'Which of the targets of the task it belongs to.' }),
  },
  closed,
);
export type HarReplayTarget = Static<typeof HarReplayTarget>;

export const HarReplayClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(HarReplayTarget, { minItems: 1 }),
    rotation: Rotation,
    sources: Sources,
    tls: tlsClientSettings({ default: {} }),
    script: Type.String({ description: 'File with a `HarScript`; written as a file reference.' }),
    places: Type.Array(Type.Array(Type.Integer({ minimum: 0 })), {
      default: [],
      description: 'Where each origin of the script leads: places of targets; all of them when empty.',
    }),
    marks: Type.Boolean({ default: false, description: 'Say which of several equal requests one is.' }),
    users: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 1 }),
    firstUser: Type.Integer({ minimum: 0, default: 0, description: 'Users of other clients come before.' }),
    usersPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    iterations: Type.Integer({ minimum: 0, default: 1, description: 'Of each user; 0 = until the end.' }),
    connections: word(['recorded', 'perHost', 'perEntry'], { default: 'perHost' }),
    maxPerHost: Type.Integer({ minimum: 1, default: 6 }),
    cookies: word(['replay', 'jar', 'drop'], { default: 'replay' }),
    cache: Type.Boolean({ default: false, description: 'Each user keeps answers that may be kept.' }),
    variables: Type.Array(Type.Array(Type.String(), { minItems: 1 }), {
      default: [],
      description: 'Values of each variable of the script; every iteration takes the next.',
    }),
    timeoutMs: Type.Integer({ minimum: 1, default: 30_000, description: 'Beyond the time that was recorded.' }),
  },
  closed,
);
export type HarReplayClientConfig = Static<typeof HarReplayClientConfig>;

export const HarReplayServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    listen: Type.Array(Listen, { minItems: 1, description: 'Each takes HTTP/1.1 and HTTP/2, plain and over TLS.' }),
    tls: tlsServerSettings({ default: {} }),
    names: Type.Array(Type.String(), { default: [], description: 'For the certificate it makes itself.' }),
    answers: Type.String({ description: 'File with `HarAnswers`; written as a file reference.' }),
    mode: word(['recorded', 'size', 'echo'], { default: 'recorded' }),
  },
  closed,
);
export type HarReplayServerConfig = Static<typeof HarReplayServerConfig>;

export const HarReplayConfig = Type.Union([HarReplayClientConfig, HarReplayServerConfig]);
export type HarReplayConfig = Static<typeof HarReplayConfig>;
