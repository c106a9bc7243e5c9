import { type TunnelType, tunnelParams, tunnelSecretsOf } from '@rushhour/contract';
import { innerMtuOf } from '@rushhour/pools';

interface Kind {
  title: string;
  engines: string[];
}

/** `raw`: the agent writes the headers itself. `linux`: a device of the kernel. */
const kinds: Readonly<Record<TunnelType, Kind>> = {
  ipsec: { title: 'IPsec ESP with IKEv2', engines: ['strongswan'] },
  gre: { title: 'GRE', engines: ['raw', 'linux'] },
  ipip: { title: 'IP in IP', engines: ['raw', 'linux'] },
  vxlan: { title: 'VXLAN', engines: ['raw', 'linux'] },
  geneve: { title: 'Geneve', engines: ['raw', 'linux'] },
  l2tpv3: { title: 'L2TPv3 pseudowire', engines: ['raw', 'linux'] },
  gtpu: { title: 'GTP-U', engines: ['raw', 'linux'] },
  wireguard: { title: 'WireGuard', engines: ['linux'] },
  mpls: { title: 'MPLS label-switched path', engines: ['raw', 'linux'] },
};

/** What `GET /tunnels/types` answers; it never changes while the controller runs. */
export const tunnelCatalogue = (Object.keys(kinds) as TunnelType[]).map((type) => ({
  type,
  ...kinds[type],
  schema: JSON.parse(JSON.stringify(tunnelParams[type])) as Record<string, unknown>,
  secrets: [...tunnelSecretsOf(type)],
  overheadBytes: innerMtuOf({ type }).overheadBytes,
  overheadBytesIpv6: innerMtuOf({ type, outerVersion: 6 }).overheadBytes,
}));
