import { type TunnelType, tunnelParams, tunnelSecretsOf } from '@rushhour/contract';
import { innerMtuOf } from '@rushhour/pools';

interface Kind {
  readonly title: string;
  /** Why no agent can open tunnels of this type; undefined: agents with emulated hosts can. */
  readonly missing?: string;
}

const kinds: Readonly<Record<TunnelType, Kind>> = {
  ipsec: { title: 'IPsec ESP with IKEv2' },
  gre: { title: 'GRE' },
  ipip: { title: 'IP in IP' },
  vxlan: { title: 'VXLAN' },
  geneve: { title: 'Geneve' },
  l2tpv3: { title: 'L2TPv3 pseudowire' },
  gtpu: { title: 'GTP-U' },
  wireguard: { title: 'WireGuard' },
  mpls: { title: 'MPLS label-switched path' },
};

/** Why tunnels of this type cannot be used; undefined: they can. */
export const missingTunnel = (type: TunnelType): string | undefined => kinds[type].missing;

const schemaOf = (type: TunnelType): Record<string, unknown> => {
  const { missing } = kinds[type];
  const description = missing === undefined ? {} : { description: `Not available: ${missing}` };
  return { ...(JSON.parse(JSON.stringify(tunnelParams[type])) as Record<string, unknown>), ...description };
};

/** Agents keep room for UDP around ESP, because a NAT may be found at any time. */
const params = { natt: true };

/**
 * The answer of `GET /tunnels/types`; it never changes while the controller runs. The engine `stack` is the emulated
 * hosts of an agent; a type without engines is not available, and its schema says why.
 */
export const tunnelCatalogue = (Object.keys(kinds) as TunnelType[]).map((type) => ({
  type,
  title: kinds[type].title,
  engines: kinds[type].missing === undefined ? ['stack'] : [],
  available: kinds[type].missing === undefined,
  reason: kinds[type].missing ?? '',
  schema: schemaOf(type),
  secrets: [...tunnelSecretsOf(type)],
  overheadBytes: innerMtuOf({ type, params }).overheadBytes,
  overheadBytesIpv6: innerMtuOf({ type, outerVersion: 6, params }).overheadBytes,
}));
