import { type Static, Type } from 'typebox';
import { Listen, Sources, Target } from '../endpoint.ts';
import { FramePath } from '../hosts/data-path.ts';

const closed = { additionalProperties: false } as const;

const ReplaySpeed = Type.Object(
  {
    mode: Type.Union([Type.Literal('original'), Type.Literal('bps'), Type.Literal('pps'), Type.Literal('max')], {
      default: 'original',
      description: 'Both directions share one rate; max: each side sends as fast as possible.',
    }),
    value: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: 'Frames per second, or frame bits with FCS per second.',
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
    hasNewMacs: Type.Boolean({ default: true, description: 'MACs of interface and next hop, or as recorded.' }),
    vlan: Type.Optional(Type.Integer({ minimum: 0, maximum: 4094 })),
    ttl: Type.Optional(Type.Integer({ minimum: 1, maximum: 255 })),
    dscp: Type.Optional(Type.Integer({ minimum: 0, maximum: 63 })),
    mtu: Type.Integer({ minimum: 68, maximum: 9216, default: 1500 }),
    fixesChecksums: Type.Boolean({ default: true }),
  },
  { ...closed, default: {} },
);

/** One replay of a capture between a client agent and its server agents; both sides have the same data. */
const played = {
  capture: Type.String({ description: 'Path of the file.' }),
  sources: Sources,
  targets: Type.Array(Target, { minItems: 1, description: 'Addresses and ports of the servers.' }),
  speed: ReplaySpeed,
  loops: Type.Integer({ minimum: 0, default: 1, description: '0: endless.' }),
  loopDelayMs: Type.Number({ minimum: 0, default: 0 }),
  renewEvery: Type.Integer({
    minimum: 0,
    default: 0,
    description: 'Use new client addresses after this many loops; 0: never.',
  }),
  mostFrames: Type.Optional(Type.Integer({ minimum: 1, description: 'Maximum frames of both directions.' })),
  clientIp: Type.Optional(Type.String()),
  include: Type.Optional(Type.String()),
  exclude: Type.Optional(Type.String()),
  packets: Type.Optional(Type.String()),
  maxGapMs: Type.Number({ minimum: 0, default: 1000 }),
  rewrite: ReplayRewrite,
};
const place = {
  path: Type.Optional(FramePath),
  interface: Type.Optional(Type.String({ description: 'Egress interface; default: by the routing table.' })),
  nextHopMac: Type.Optional(Type.String({ description: 'MAC of the next hop; default: resolved by ARP or ND.' })),
};

export const ReplayPart = Type.Object(
  {
    ...played,
    startAfterMs: Type.Number({ minimum: 0, default: 0, description: 'Start of its client after the common start.' }),
  },
  closed,
);
export type ReplayPart = Static<typeof ReplayPart>;

export const PcapReplayClientConfig = Type.Object({ role: Type.Literal('client'), ...played, ...place }, closed);
export type PcapReplayClientConfig = Static<typeof PcapReplayClientConfig>;

/** Replays the server side for all clients; it owns the servers at its listening addresses. */
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
