import { type Static, Type } from 'typebox';
import { FramePath } from './data-path.ts';
import { Listen, Sources, Target } from './endpoint.ts';

const closed = { additionalProperties: false } as const;

const ReplaySpeed = Type.Object(
  {
    mode: Type.Union([Type.Literal('original'), Type.Literal('bps'), Type.Literal('pps'), Type.Literal('max')], {
      default: 'original',
      description: 'Both directions share one rate; max: each side sends what is its own as fast as it can.',
    }),
    value: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: 'Frames a second, or bits of frames with their check sequence.',
      }),
    ),
    multiplier: Type.Number({ exclusiveMinimum: 0, default: 1 }),
  },
  { ...closed, default: {} },
);

const ReplayRewrite = Type.Object(
  {
    hasNewAddresses: Type.Boolean({
      default: true,
      description: 'Addresses of `sources` and `targets`, or as recorded.',
    }),
    hasNewPorts: Type.Boolean({ default: false }),
    hasNewMacs: Type.Boolean({ default: true, description: 'From the interface to the next hop, or as recorded.' }),
    vlan: Type.Optional(Type.Integer({ minimum: 0, maximum: 4094 })),
    ttl: Type.Optional(Type.Integer({ minimum: 1, maximum: 255 })),
    dscp: Type.Optional(Type.Integer({ minimum: 0, maximum: 63 })),
    mtu: Type.Integer({ minimum: 68, maximum: 9216, default: 1500 }),
    fixesChecksums: Type.Boolean({ default: true }),
  },
  { ...closed, default: {} },
);

/** One playing of a capture between one agent that is the client and those that are the servers: both know all of it. */
const played = {
  capture: Type.String({ description: 'Path of the file.' }),
  sources: Sources,
  targets: Type.Array(Target, { minItems: 1, description: 'Addresses and ports of the servers.' }),
  speed: ReplaySpeed,
  loops: Type.Integer({ minimum: 0, default: 1, description: '0: until the end.' }),
  loopDelayMs: Type.Number({ minimum: 0, default: 0 }),
  renewEvery: Type.Integer({
    minimum: 0,
    default: 0,
    description: 'New client addresses after so many times; 0: never.',
  }),
  mostFrames: Type.Optional(Type.Integer({ minimum: 1, description: 'Of both directions, after which it ends.' })),
  clientIp: Type.Optional(Type.String()),
  include: Type.Optional(Type.String()),
  exclude: Type.Optional(Type.String()),
  packets: Type.Optional(Type.String()),
  maxGapMs: Type.Number({ minimum: 0, default: 1000 }),
  rewrite: ReplayRewrite,
};
const place = {
  path: Type.Optional(FramePath),
  interface: Type.Optional(
    Type.String({ description: 'Where frames leave; by the routes of the machine if not said.' }),
  ),
  nextHopMac: Type.Optional(
    Type.String({ description: 'Where frames go first; asked of the neighbours if not said.' }),
  ),
};

export const ReplayPart = Type.Object(
  {
    ...played,
    startAfterMs: Type.Number({ minimum: 0, default: 0, description: 'Its client begins so long after the start.' }),
  },
  closed,
);
export type ReplayPart = Static<typeof ReplayPart>;

export const PcapReplayClientConfig = Type.Object({ role: Type.Literal('client'), ...played, ...place }, closed);
export type PcapReplayClientConfig = Static<typeof PcapReplayClientConfig>;

/** Plays what the servers said to each of the clients; those of the addresses it listens on are its own. */
export const PcapReplayServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    listen: Type.Array(Listen, { minItems: 1 }),
    parts: Type.Array(ReplayPart, { minItems: 1 }),
    ...place,
  },
  closed,
);
export type PcapReplayServerConfig = Static<typeof PcapReplayServerConfig>;

export const PcapReplayConfig = Type.Union([PcapReplayClientConfig, PcapReplayServerConfig]);
export type PcapReplayConfig = Static<typeof PcapReplayConfig>;
