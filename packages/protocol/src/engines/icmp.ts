import { type Static, Type } from 'typebox';
import { Listen, Rotation, Target } from './endpoint.ts';
import { loadOf } from './load.ts';

const closed = { additionalProperties: false } as const;

export const IcmpClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(Target, { minItems: 1, maxItems: 65_536, description: 'Their ports say nothing.' }),
    rotation: Rotation,
    sourceAddress: Type.Optional(
      Type.String({ description: 'Where messages come from; the machine chooses if not said.' }),
    ),
    load: loadOf('Messages a second to all targets together. Without a rate, as fast as answers come.'),
    limit: Type.Optional(Type.Integer({ minimum: 1, description: 'Messages in all.' })),
    payloadBytes: Type.Integer({ minimum: 0, maximum: 65_507, default: 56 }),
    timeoutMs: Type.Integer({ minimum: 1, maximum: 3_600_000, default: 1000 }),
    window: Type.Integer({
      minimum: 1,
      maximum: 32_768,
      default: 64,
      description: 'Unanswered at once, without a rate.',
    }),
    identifiers: Type.Union([Type.Literal('agent'), Type.Literal('target'), Type.Literal('message')], {
      default: 'agent',
    }),
    hasWrongChecksums: Type.Boolean({ default: false, description: 'IPv4 by raw sockets only.' }),
    ttl: Type.Optional(Type.Integer({ minimum: 1, maximum: 255 })),
    socket: Type.Union([Type.Literal('auto'), Type.Literal('raw'), Type.Literal('ping')], {
      default: 'auto',
      description: 'auto: raw where the machine allows it, else the kernel’s own socket for pings.',
    }),
  },
  closed,
);
export type IcmpClientConfig = Static<typeof IcmpClientConfig>;

/** The kernel answers; the engine counts its answers and holds the addresses. */
export const IcmpServerConfig = Type.Object(
  { role: Type.Literal('server'), listen: Type.Array(Listen, { minItems: 1 }) },
  closed,
);
export type IcmpServerConfig = Static<typeof IcmpServerConfig>;

export const IcmpConfig = Type.Union([IcmpClientConfig, IcmpServerConfig]);
export type IcmpConfig = Static<typeof IcmpConfig>;
