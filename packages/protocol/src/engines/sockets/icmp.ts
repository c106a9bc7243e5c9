import { type Static, Type } from 'typebox';
import { Listen, Rotation, Target } from '../endpoint.ts';
import { loadOf } from '../load.ts';

const closed = { additionalProperties: false } as const;

export const IcmpClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(Target, { minItems: 1, maxItems: 65_536, description: 'Ports are ignored.' }),
    rotation: Rotation,
    messageType: Type.Union(
      [
        Type.Literal('echo'),
        Type.Literal('timestamp'),
        Type.Literal('unreachable'),
        Type.Literal('redirect'),
        Type.Literal('neighbourSolicitation'),
        Type.Literal('routerSolicitation'),
      ],
      { default: 'echo', description: 'All but echo need emulated hosts.' },
    ),
    sourceRotation: Rotation,
    sourceAddress: Type.Optional(Type.String({ description: 'Source address; default: chosen by the kernel.' })),
    load: loadOf('Messages a second to all targets together. Without a rate, as fast as answers come.'),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: 'Total number of messages.' })),
    payloadBytes: Type.Integer({ minimum: 0, maximum: 65_507, default: 56 }),
    timeoutMs: Type.Integer({ minimum: 1, maximum: 3_600_000, default: 1000 }),
    window: Type.Integer({
      minimum: 1,
      maximum: 32_768,
      default: 64,
      description: 'Maximum number of requests in flight without a rate.',
    }),
    identifiers: Type.Union([Type.Literal('agent'), Type.Literal('target'), Type.Literal('message')], {
      default: 'agent',
    }),
    hasWrongChecksums: Type.Boolean({ default: false, description: 'IPv4 with raw sockets only.' }),
    ttl: Type.Optional(Type.Integer({ minimum: 1, maximum: 255 })),
    socket: Type.Union([Type.Literal('auto'), Type.Literal('raw'), Type.Literal('ping')], {
      default: 'auto',
      description: 'auto: raw if permitted, otherwise ping sockets.',
    }),
  },
  closed,
);
export type IcmpClientConfig = Static<typeof IcmpClientConfig>;

/** The kernel, or emulated hosts, answer; the engine counts the answers. */
export const IcmpServerConfig = Type.Object(
  { role: Type.Literal('server'), listen: Type.Array(Listen, { minItems: 1 }) },
  closed,
);
export type IcmpServerConfig = Static<typeof IcmpServerConfig>;

export const IcmpConfig = Type.Union([IcmpClientConfig, IcmpServerConfig]);
export type IcmpConfig = Static<typeof IcmpConfig>;
