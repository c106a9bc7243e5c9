import { type Static, Type } from 'typebox';
import { Listen, Rotation, Sources, Target } from '../endpoint.ts';
import { DataPath } from '../hosts/data-path.ts';
import { loadOf } from '../load.ts';
import { tlsClientSettings, tlsServerSettings } from './tls-settings.ts';

export const TlsClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(Target, { minItems: 1 }),
    rotation: Rotation,
    sources: Sources,
    dataPath: Type.Optional(DataPath),
    tls: tlsClientSettings({ default: {} }),
    connections: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 10,
      description: 'Maximum number of concurrent handshakes.',
    }),
    load: loadOf('Handshakes a second.'),
    totalSessions: Type.Optional(Type.Integer({ minimum: 1 })),
    closeNotify: Type.Boolean({
      default: true,
      description: 'Close with close_notify; otherwise reset the connection.',
    }),
    timeoutMs: Type.Integer({ minimum: 1, default: 10_000 }),
  },
  { additionalProperties: false },
);
export type TlsClientConfig = Static<typeof TlsClientConfig>;

export const TlsServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    dataPath: Type.Optional(DataPath),
    listen: Type.Array(Listen, { minItems: 1 }),
    tls: tlsServerSettings({ default: {} }),
  },
  { additionalProperties: false },
);
export type TlsServerConfig = Static<typeof TlsServerConfig>;

export const TlsConfig = Type.Union([TlsClientConfig, TlsServerConfig]);
export type TlsConfig = Static<typeof TlsConfig>;
