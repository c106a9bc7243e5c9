import type { StreamValues } from '@rushhour/contract';
import type { StreamClientConfig } from '@rushhour/protocol';

/** Ethernet with its check sequence, and what numbers and times a frame. */
const frameBytes = 14 + 4;
const signatureBytes = 18;
const labelBytes = 4;
const protocolBytes = { udp: 8, tcp: 20, icmp: 8, none: 0 } as const;

const ipBytes = (version: 4 | 6): number => (version === 6 ? 40 : 20);

const tunnelBytes = ({ payload: { tunnel } }: StreamValues): number => {
  if (tunnel === undefined) return 0;
  const outer = ipBytes(tunnel.destination.includes(':') ? 6 : 4);
  if (tunnel.type === 'gre') return outer + (tunnel.key === undefined ? 4 : 8);
  return outer + 8 + 8 + 14;
};

/** The smallest frame that holds all headers. */
export const minFrameBytes = (values: StreamValues, version: 4 | 6): number => {
  const { payload, ipLayer } = values;
  const labels = (ipLayer.vlan.length + payload.mpls.length) * labelBytes;
  const inner = ipBytes(version) + protocolBytes[payload.protocol];
  return frameBytes + labels + tunnelBytes(values) + inner + signatureBytes;
};

/** Headers as the engine takes them. */
export const headersOf = ({ ipLayer, payload }: StreamValues): StreamClientConfig['headers'] => ({
  vlan: ipLayer.vlan.map(({ id, pcp, tpid }) => ({ id, priority: pcp, type: Number(tpid) })),
  mpls: payload.mpls,
  ...(payload.tunnel !== undefined && { tunnel: payload.tunnel }),
  ttl: ipLayer.ttl ?? 64,
  dscp: ipLayer.dscp ?? 0,
  ecn: ipLayer.ecn ?? 0,
  isUnfragmentable: ipLayer.df ?? false,
  flowLabel: ipLayer.flowLabel ?? 0,
  protocol: payload.protocol,
});
