import { type Static, Type } from 'typebox';
import { Listen, Rotation, Target } from '../endpoint.ts';
import { loadOf } from '../load.ts';
import { AddressRange, IpsecSettings } from './ipsec-settings.ts';

const closed = { additionalProperties: false } as const;
const maxTunnels = 1_000_000;

/** Peers and the addresses that they are reached from. */
const initiator = {
  targets: Type.Array(Target, { minItems: 1, maxItems: 1024, description: 'Peers; their ports are ignored.' }),
  rotation: Rotation,
  sourceRotation: Rotation,
  sourceCount: Type.Integer({ minimum: 1, default: 1, description: 'Hosts that are used, from the first on.' }),
  sharesSource: Type.Boolean({ default: false, description: 'All sessions to one peer have the same local address.' }),
  settings: IpsecSettings,
};

/** Addresses inside the tunnels, by side. */
const Inside = Type.Object({ client: AddressRange, server: AddressRange }, closed);

export const IpsecTunnelClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    ...initiator,
    tunnels: Type.Integer({ minimum: 1, maximum: maxTunnels }),
    inside: Type.Optional(Inside),
  },
  closed,
);
export type IpsecTunnelClientConfig = Static<typeof IpsecTunnelClientConfig>;

export const IpsecTunnelServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    listen: Type.Array(Listen, { minItems: 1, description: 'Ports are ignored: IKE has 500 and 4500.' }),
    settings: IpsecSettings,
    tunnels: Type.Integer({ minimum: 1, maximum: maxTunnels, description: 'Of all clients.' }),
    inside: Type.Optional(Inside),
  },
  closed,
);
export type IpsecTunnelServerConfig = Static<typeof IpsecTunnelServerConfig>;

export const IpsecTunnelConfig = Type.Union([IpsecTunnelClientConfig, IpsecTunnelServerConfig]);
export type IpsecTunnelConfig = Static<typeof IpsecTunnelConfig>;

export const IpsecLoadClientConfig = Type.Object(
  {
    role: Type.Literal('client'),
    ...initiator,
    load: loadOf('Handshakes begun a second. Without a rate, each begins when one before it has ended.'),
    concurrentHandshakes: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    keepalivesPerSecond: Type.Number({ minimum: 0, default: 0 }),
    recycleAfterMs: Type.Integer({ minimum: 0, default: 0, description: '0: sessions stay.' }),
  },
  closed,
);
export type IpsecLoadClientConfig = Static<typeof IpsecLoadClientConfig>;

export const IpsecLoadServerConfig = Type.Object(
  {
    role: Type.Literal('server'),
    listen: Type.Array(Listen, { minItems: 1, description: 'Ports are ignored: IKE has 500 and 4500.' }),
    settings: IpsecSettings,
    idleRecycleMs: Type.Integer({ minimum: 0, default: 60_000, description: '0: idle sessions stay.' }),
    poolCap: Type.Integer({ minimum: 1, default: 100_000, description: 'Sessions; further ones are refused.' }),
  },
  closed,
);
export type IpsecLoadServerConfig = Static<typeof IpsecLoadServerConfig>;

export const IpsecLoadConfig = Type.Union([IpsecLoadClientConfig, IpsecLoadServerConfig]);
export type IpsecLoadConfig = Static<typeof IpsecLoadConfig>;
