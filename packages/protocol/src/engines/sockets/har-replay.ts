import { type Static, Type } from 'typebox';
import { word } from '../../word.ts';
import { Listen, Rotation, Sources, Target } from '../endpoint.ts';
import { tlsClientSettings, tlsServerSettings } from './tls-settings.ts';

const closed = { additionalProperties: false } as const;

export const HarReplayTarget = Type.Object(
  {
    ...Target.properties,
    place: Type.Integer({ minimum: 0, description: 'Index of the target of the task it belongs to.' }),
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
    http3: Type.Boolean({ default: false, description: 'Origins of HTTP/3 are asked over QUIC, not over HTTP/2.' }),
    script: Type.String({ description: 'File with a `HarScript`; given as a file reference.' }),
    places: Type.Array(Type.Array(Type.Integer({ minimum: 0 })), {
      default: [],
      description: 'Targets of each origin of the script, by `place`; empty: all targets.',
    }),
    marks: Type.Boolean({ default: false, description: 'Mark which of several identical requests one is.' }),
    users: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 1 }),
    firstUser: Type.Integer({ minimum: 0, default: 0, description: 'Number of users of other clients before these.' }),
    usersPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    iterations: Type.Integer({ minimum: 0, default: 1, description: 'Per user; 0: until the end.' }),
    connections: word(['recorded', 'perHost', 'perEntry'], { default: 'perHost' }),
    maxPerHost: Type.Integer({ minimum: 1, default: 6 }),
    cookies: word(['replay', 'jar', 'drop'], { default: 'replay' }),
    cache: Type.Boolean({ default: false, description: 'Each user has a browser cache.' }),
    variables: Type.Array(Type.Array(Type.String(), { minItems: 1 }), {
      default: [],
      description: 'Values of each variable of the script; each iteration uses the next one.',
    }),
    timeoutMs: Type.Integer({ minimum: 1, default: 30_000, description: 'In addition to the recorded duration.' }),
  },
  closed,
);
export type HarReplayClientConfig = Static<typeof HarReplayClientConfig>;

export const HarReplayServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    listen: Type.Array(Listen, { minItems: 1, description: 'Each accepts HTTP/1.1 and HTTP/2, with and without TLS.' }),
    tls: tlsServerSettings({ default: {} }),
    http3: Type.Boolean({ default: false, description: 'Each accepts HTTP/3 as well.' }),
    names: Type.Array(Type.String(), { default: [], description: 'Names in the self-signed certificate.' }),
    answers: Type.String({ description: 'File with `HarAnswers`; given as a file reference.' }),
    mode: word(['recorded', 'size', 'echo'], { default: 'recorded' }),
  },
  closed,
);
export type HarReplayServerConfig = Static<typeof HarReplayServerConfig>;

export const HarReplayConfig = Type.Union([HarReplayClientConfig, HarReplayServerConfig]);
export type HarReplayConfig = Static<typeof HarReplayConfig>;
