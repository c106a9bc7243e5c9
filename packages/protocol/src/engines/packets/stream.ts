import { type Static, Type } from 'typebox';
import { Listen, Rotation, Sources, Target } from '../endpoint.ts';
import { FramePath } from '../hosts/data-path.ts';
import { StackNetwork } from '../hosts/host-stack.ts';
import { loadOf } from '../load.ts';
import { Payload } from '../payload.ts';
import { Rfc2544Plan } from './rfc2544.ts';

const closed = { additionalProperties: false } as const;
const whole = (minimum: number, maximum: number, value: number, description?: string) =>
  Type.Integer({ minimum, maximum, default: value, ...(description !== undefined && { description }) });
const FrameSize = Type.Integer({ minimum: 64, maximum: 16_000, description: 'Bytes with FCS.' });

/** Frame sizes: one size, a weighted mix, or a sweep. */
const FrameSizes = Type.Object(
  {
    mix: Type.Array(Type.Object({ frameSize: FrameSize, weight: Type.Number({ exclusiveMinimum: 0 }) }, closed), {
      default: [{ frameSize: 64, weight: 1 }],
      minItems: 1,
      maxItems: 64,
    }),
    sweep: Type.Optional(Type.Object({ first: FrameSize, last: FrameSize, step: whole(1, 16_000, 1) }, closed)),
  },
  { ...closed, default: {} },
);

const Tunnel = Type.Object(
  {
    type: Type.Union([Type.Literal('gre'), Type.Literal('vxlan')]),
    source: Type.String({ description: 'Tunnel source.' }),
    destination: Type.String({ description: 'Tunnel destination.' }),
    key: Type.Optional(Type.Integer({ minimum: 0, maximum: 4_294_967_295, description: 'GRE key.' })),
    network: whole(0, 16_777_215, 1, 'Network identifier of VXLAN.'),
  },
  closed,
);

const Headers = Type.Object(
  {
    vlan: Type.Array(
      Type.Object({ id: whole(0, 4094, 0), priority: whole(0, 7, 0), type: whole(0x600, 0xffff, 0x8100) }, closed),
      { default: [], maxItems: 4, description: 'Tags, outermost first.' },
    ),
    mpls: Type.Array(
      Type.Object({ label: whole(0, 1_048_575, 16), trafficClass: whole(0, 7, 0), ttl: whole(1, 255, 64) }, closed),
      { default: [], maxItems: 8, description: 'Labels, outermost first.' },
    ),
    tunnel: Type.Optional(Tunnel),
    ttl: whole(1, 255, 64),
    dscp: whole(0, 63, 0),
    ecn: whole(0, 3, 0),
    isUnfragmentable: Type.Boolean({ default: false }),
    flowLabel: whole(0, 1_048_575, 0),
    fragmentBytes: Type.Optional(
      Type.Integer({ minimum: 52, maximum: 65_535, description: 'Larger IP packets leave in fragments of this size.' }),
    ),
    protocol: Type.Union([Type.Literal('udp'), Type.Literal('tcp'), Type.Literal('icmp'), Type.Literal('none')], {
      default: 'udp',
      description: 'none: IP header only.',
    }),
  },
  { ...closed, default: {} },
);

/** A field that changes from frame to frame. */
export const StreamModifier = Type.Object(
  {
    field: Type.Union([
      Type.Literal('sourceMac'),
      Type.Literal('destinationMac'),
      Type.Literal('vlan'),
      Type.Literal('mplsLabel'),
      Type.Literal('sourceAddress'),
      Type.Literal('sourcePort'),
      Type.Literal('destinationPort'),
    ]),
    mode: Type.Union([Type.Literal('increment'), Type.Literal('random'), Type.Literal('list')], {
      default: 'increment',
    }),
    count: whole(1, 4_294_967_295, 256, 'How many values there are before the first comes again.'),
    step: whole(1, 4_294_967_295, 1, 'Distance of neighbouring values.'),
    values: Type.Array(Type.Integer({ minimum: 0, maximum: 4_294_967_295 }), {
      default: [],
      maxItems: 65_536,
      description: 'Mode list: values added to the unmodified value.',
    }),
  },
  closed,
);
export type StreamModifier = Static<typeof StreamModifier>;

export const StreamClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    targets: Type.Array(Target, { minItems: 1 }),
    rotation: Rotation,
    sources: Sources,
    streams: whole(1, 1_000_000, 1, 'Each with addresses and sequence numbers of its own.'),
    load: loadOf('Frames a second of all streams together, or what `loadUnit` says.'),
    loadUnit: Type.Union([Type.Literal('pps'), Type.Literal('bps'), Type.Literal('linePct')], {
      default: 'pps',
      description:
        'pps: frames a second; bps: bits a second of frames with their check sequence; linePct: percent of what the interface can carry, gaps between frames included.',
    }),
    sizes: FrameSizes,
    headers: Headers,
    modifiers: Type.Array(StreamModifier, { default: [], maxItems: 8 }),
    fill: Payload,
    hasWrongChecksums: Type.Boolean({ default: false }),
    framePath: Type.Optional(FramePath),
    interface: Type.Optional(Type.String({ description: 'Egress interface; default: by the routing table.' })),
    nextHopMac: Type.Optional(Type.String({ description: 'MAC of the next hop; default: resolved by ARP or ND.' })),
    hosts: Type.Optional(Type.Array(StackNetwork, { description: 'MACs and gateways of source addresses.' })),
    rfc2544: Type.Optional(Rfc2544Plan),
  },
  closed,
);
export type StreamClientConfig = Static<typeof StreamClientConfig>;

export const StreamServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    listen: Type.Array(Listen, { minItems: 1 }),
    protocol: Type.Optional(Type.Union([Type.Literal('udp'), Type.Literal('other')])),
    hosts: Type.Optional(Type.Array(StackNetwork, { description: 'MACs of the addresses it answers for.' })),
    ringBytes: whole(1_048_576, 1_073_741_824, 67_108_864, 'Room for frames that are not looked at yet.'),
    countsTrials: Type.Boolean({
      default: false,
      description: 'Report the received frames of each trial to the sender.',
    }),
  },
  closed,
);
export type StreamServerConfig = Static<typeof StreamServerConfig>;

export const StreamConfig = Type.Union([StreamClientConfig, StreamServerConfig]);
export type StreamConfig = Static<typeof StreamConfig>;
