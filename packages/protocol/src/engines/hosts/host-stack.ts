import { type Static, Type } from 'typebox';
import { IpsecSettings } from './ipsec-settings.ts';

const closed = { additionalProperties: false } as const;

/** Emulated hosts of one network: addresses of their own, behind the interface of the agent. */
export const StackNetwork = Type.Object(
  {
    subnet: Type.String({ description: 'CIDR of the network; its addresses are reached without the gateway.' }),
    hosts: Type.Array(Type.String(), {
      minItems: 1,
      description: 'Addresses of the hosts, ascending: single ones, or inclusive ranges such as 10.0.0.5-10.0.0.99.',
    }),
    macs: Type.Optional(
      Type.Object(
        {
          network: Type.Unknown({ description: 'The network with its MAC policy and overrides.' }),
          records: Type.Array(Type.Unknown(), { description: 'MAC records that the policy refers to.' }),
        },
        { ...closed, description: 'How hosts get their MACs; absent: all have the one of the interface.' },
      ),
    ),
    gateway: Type.Optional(Type.String({ description: 'Router to all other networks.' })),
    gatewayMac: Type.Optional(Type.String({ description: 'Its MAC; absent: asked by ARP or neighbour discovery.' })),
  },
  closed,
);
export type StackNetwork = Static<typeof StackNetwork>;

/** Fields of the IP header. Omitted ones have the usual values. */
export const StackHeader = Type.Object(
  {
    ttl: Type.Optional(Type.Integer({ minimum: 1, maximum: 255 })),
    dscp: Type.Optional(Type.Integer({ minimum: 0, maximum: 63 })),
    ecn: Type.Optional(Type.Integer({ minimum: 0, maximum: 3 })),
    df: Type.Optional(Type.Boolean()),
    flowLabel: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_048_575 })),
    fragmentSize: Type.Optional(Type.Integer({ minimum: 8, maximum: 65_528 })),
    invalidChecksum: Type.Optional(Type.Boolean()),
  },
  { ...closed, default: {} },
);
export type StackHeader = Static<typeof StackHeader>;

/** TCP of the emulated hosts, exactly as given. */
export const StackTcp = Type.Object(
  {
    mss: Type.Optional(Type.Integer({ minimum: 88, maximum: 65_495 })),
    window: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_073_741_824 })),
    sack: Type.Optional(Type.Boolean()),
    timestamps: Type.Optional(Type.Boolean()),
    ecn: Type.Optional(Type.Boolean()),
    congestion: Type.Optional(Type.Union([Type.Literal('newreno'), Type.Literal('cubic')])),
    synRetries: Type.Optional(Type.Integer({ minimum: 0, maximum: 127 })),
    keepAliveSec: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  },
  { ...closed, default: {} },
);
export type StackTcp = Static<typeof StackTcp>;

/** Tunnels that carry the packets of the hosts: host i uses tunnel i modulo their number. */
export const StackTunnel = Type.Object(
  {
    type: Type.Union([
      Type.Literal('gre'),
      Type.Literal('ipip'),
      Type.Literal('vxlan'),
      Type.Literal('geneve'),
      Type.Literal('l2tpv3'),
      Type.Literal('gtpu'),
      Type.Literal('mpls'),
      Type.Literal('wireguard'),
      Type.Literal('ipsec'),
    ]),
    ipsec: Type.Optional(IpsecSettings),
    params: Type.Record(Type.String(), Type.Unknown(), { default: {} }),
    isServer: Type.Boolean({ description: 'The agent is the far end: identifiers of the two directions are swapped.' }),
    ends: Type.Array(Type.Object({ local: Type.String(), remote: Type.String() }, closed), { minItems: 1 }),
    mtu: Type.Optional(Type.Integer({ minimum: 68, maximum: 65_535, description: 'Largest outer packet.' })),
    /** Where the outer addresses live; the MACs and the gateway of the outer packets. */
    outer: StackNetwork,
  },
  closed,
);
export type StackTunnel = Static<typeof StackTunnel>;

/** An IP stack of the agent's own for a job, instead of the sockets of the kernel. */
export const HostStack = Type.Object(
  {
    interface: Type.String({ description: 'Name of the interface that frames leave and enter by.' }),
    networks: Type.Array(StackNetwork, {
      description:
        'Where the hosts are; with `sessions`: addresses behind the gateway, or none if the hosts are subscribers.',
    }),
    sessions: Type.Optional(
      Type.Object(
        {
          groupId: Type.Integer({ minimum: 0, description: 'Group of the entry of the access plane.' }),
          index: Type.Integer({ minimum: 0 }),
          count: Type.Integer({ minimum: 1, description: 'Jobs that share the sessions; each has every n-th one.' }),
          isIpv6: Type.Optional(Type.Boolean({ description: 'The hosts have the IPv6 addresses of the sessions.' })),
        },
        { ...closed, description: 'The hosts are access sessions of a job of the same run, or behind its gateway.' },
      ),
    ),
    vlan: Type.Array(
      Type.Object(
        {
          id: Type.Integer({ minimum: 0, maximum: 4094 }),
          pcp: Type.Integer({ minimum: 0, maximum: 7, default: 0 }),
          tpid: Type.Integer({ minimum: 0, maximum: 65_535, default: 0x8100 }),
        },
        closed,
      ),
      { default: [], maxItems: 2, description: 'VLAN tags, the outer first.' },
    ),
    header: StackHeader,
    tcp: StackTcp,
    tunnel: Type.Optional(StackTunnel),
    path: Type.Optional(Type.Union([Type.Literal('auto'), Type.Literal('af_xdp'), Type.Literal('af_packet')])),
  },
  closed,
);
export type HostStack = Static<typeof HostStack>;
