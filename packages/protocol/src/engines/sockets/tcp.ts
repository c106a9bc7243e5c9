import { type Static, Type } from 'typebox';
import { DrawnText } from '../drawn-text.ts';
import { Listen, Rotation, Sources, Target } from '../endpoint.ts';
import { DataPath } from '../hosts/data-path.ts';
import { loadOf } from '../load.ts';
import { Payload } from '../payload.ts';
import { TcpTuning } from './tcp-tuning.ts';

const CloseMode = Type.Union([Type.Literal('fin'), Type.Literal('rst')], { default: 'fin' });

export const TcpClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(Target, { minItems: 1 }),
    rotation: Rotation,
    sources: Sources,
    dataPath: Type.Optional(DataPath),
    connections: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 50,
      description: 'Maximum number of concurrent connections.',
    }),
    openSessions: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'Connections to keep open at first; changes during the run.' }),
    ),
    load: loadOf('Connections opened a second.'),
    totalSessions: Type.Optional(Type.Integer({ minimum: 1 })),
    reopenSessionMs: Type.Integer({ minimum: 0, default: 0 }),
    mode: Type.Union([Type.Literal('connect'), Type.Literal('send'), Type.Literal('receive'), Type.Literal('echo')], {
      default: 'connect',
      description:
        'connect: open, hold, close; send: push the payload over and over; receive: read what the server sends; echo: send the payload and wait for it to come back.',
    }),
    payload: Payload,
    drawn: Type.Optional(DrawnText),
    messagesPerSecond: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'Per connection, in modes send and echo.' }),
    ),
    rateBps: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: 'Maximum payload bits per second of all connections, in mode send.',
      }),
    ),
    holdMs: Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Lifetime of a connection; 0: mode connect closes immediately, others stay open.',
    }),
    closeMode: CloseMode,
    noDelay: Type.Boolean({ default: true }),
    keepAliveSec: Type.Integer({ minimum: 0, default: 0 }),
    connectTimeoutMs: Type.Integer({ minimum: 1, default: 10_000 }),
    tuning: Type.Optional(TcpTuning),
  },
  { additionalProperties: false },
);
export type TcpClientConfig = Static<typeof TcpClientConfig>;

export const TcpServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    dataPath: Type.Optional(DataPath),
    listen: Type.Array(Listen, { minItems: 1 }),
    mode: Type.Union([Type.Literal('sink'), Type.Literal('echo'), Type.Literal('source')], { default: 'sink' }),
    payload: Payload,
    drawn: Type.Optional(DrawnText),
    closeMode: CloseMode,
    noDelay: Type.Boolean({ default: true }),
    tuning: Type.Optional(TcpTuning),
  },
  { additionalProperties: false },
);
export type TcpServerConfig = Static<typeof TcpServerConfig>;

export const TcpConfig = Type.Union([TcpClientConfig, TcpServerConfig]);
export type TcpConfig = Static<typeof TcpConfig>;
