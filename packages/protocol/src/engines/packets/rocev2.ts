import { type Static, Type } from 'typebox';
import { Listen, Rotation, Sources, Target } from '../endpoint.ts';

const closed = { additionalProperties: false } as const;
const whole = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

const common = {
  mtu: Type.Integer({ minimum: 256, maximum: 4096, default: 1024, description: 'Path MTU: payload of a packet.' }),
  messageBytes: Type.Integer({ minimum: 1, maximum: 1_073_741_824, default: 65_536 }),
  header: Type.Object(
    {
      ttl: whole(1, 255),
      dscp: whole(0, 63),
      ecn: whole(0, 3),
      flowLabel: whole(0, 1_048_575),
      vlan: Type.Array(Type.Object({ id: whole(0, 4094), pcp: whole(0, 7), tpid: whole(0, 65_535) }, closed), {
        maxItems: 2,
      }),
    },
    { ...closed, description: 'Fields of the headers of all packets.' },
  ),
  congestion: Type.Optional(
    Type.Object(
      { dscp: whole(0, 63), delayUs: whole(0, 1_000_000) },
      { ...closed, description: 'Congestion notifications; absent: none are sent.' },
    ),
  ),
  dcqcn: Type.Optional(
    Type.Object(
      {
        alphaG: Type.Number({ minimum: 0, maximum: 1 }),
        initialAlpha: Type.Number({ minimum: 0, maximum: 1 }),
        rateReduceMinUs: whole(0, 1_000_000),
        timeResetUs: whole(0, 1_000_000),
        byteReset: whole(0, 1_073_741_824),
        additiveBps: Type.Number({ exclusiveMinimum: 0 }),
        hyperBps: Type.Number({ exclusiveMinimum: 0 }),
      },
      { ...closed, description: 'Rate control by notifications; absent: the rate stays the same.' },
    ),
  ),
};

export const Rocev2ClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(Target, { minItems: 1 }),
    rotation: Rotation,
    sources: Sources,
    verb: Type.Union(['write', 'writeImm', 'send', 'sendImm', 'read'].map((verb) => Type.Literal(verb))),
    queuePairs: whole(1, 65_536),
    firstPort: Type.Optional(whole(1024, 65_535)),
    rateBps: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'Of all queue pairs; absent: as fast as possible.' }),
    ),
    linePct: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 100, description: 'Instead of `rateBps`.' })),
    retryMs: whole(1, 600_000),
    retryCount: whole(0, 7),
    ...common,
  },
  closed,
);
export type Rocev2ClientConfig = Omit<Static<typeof Rocev2ClientConfig>, 'verb'> & {
  verb: 'write' | 'writeImm' | 'send' | 'sendImm' | 'read';
};

export const Rocev2ServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    listen: Type.Array(Listen, { minItems: 1 }),
    rateBps: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'Of the answers to reads.' })),
    linePct: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 100 })),
    ...common,
  },
  closed,
);
export type Rocev2ServerConfig = Static<typeof Rocev2ServerConfig>;

export const Rocev2Config = Type.Union([Rocev2ClientConfig, Rocev2ServerConfig]);
export type Rocev2Config = Rocev2ClientConfig | Rocev2ServerConfig;
