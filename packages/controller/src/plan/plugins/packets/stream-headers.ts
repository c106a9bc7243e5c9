import type { StreamValues } from '@rushhour/contract';
import type { StreamClientConfig } from '@rushhour/protocol';
import type { ClientPart } from '../../core/load/traffic.ts';
import { isLoopback } from '../../endpoints/machine-addresses.ts';

/** Ethernet with its check sequence, and what numbers and times a frame. */
const frameBytes = 14 + 4;
const signatureBytes = 18;
const labelBytes = 4;
const protocolBytes = { udp: 8, tcp: 20, icmp: 8, none: 0 } as const;

const ipBytes = (version: 4 | 6): number => (version === 6 ? 40 : 20);

type Headers = StreamClientConfig['headers'];
export type FrameHeaders = Pick<Headers, 'vlan' | 'mpls' | 'tunnel' | 'protocol'>;

const tunnelBytes = ({ tunnel }: FrameHeaders): number => {
  if (tunnel === undefined) return 0;
  const outer = ipBytes(tunnel.destination.includes(':') ? 6 : 4);
  if (tunnel.type === 'gre') return outer + (tunnel.key === undefined ? 4 : 8);
  return outer + 8 + 8 + 14;
};

/** The smallest frame that holds all headers. */
export const minFrameBytes = (headers: FrameHeaders, version: 4 | 6): number => {
  const labels = (headers.vlan.length + headers.mpls.length) * labelBytes;
  const inner = ipBytes(version) + protocolBytes[headers.protocol];
  return frameBytes + labels + tunnelBytes(headers) + inner + signatureBytes;
};

/** The smallest fragments: the last one holds what numbers and times the frame. */
export const minFragmentBytes = (version: 4 | 6): number => (version === 6 ? 80 : 52);

/** VLAN tags and fields of the IP header. */
export const ipHeadersOf = (ipLayer: StreamValues['ipLayer']) => ({
  vlan: ipLayer.vlan.map(({ id, pcp, tpid }) => ({ id, priority: pcp, type: Number(tpid) })),
  ttl: ipLayer.ttl ?? 64,
  dscp: ipLayer.dscp ?? 0,
  ecn: ipLayer.ecn ?? 0,
  isUnfragmentable: ipLayer.df ?? false,
  flowLabel: ipLayer.flowLabel ?? 0,
});

/** Headers as the engine takes them. */
export const headersOf = ({ ipLayer, payload }: StreamValues): Headers => ({
  ...ipHeadersOf(ipLayer),
  ...(ipLayer.fragmentSize !== undefined && { fragmentBytes: Math.max(ipLayer.fragmentSize, minFragmentBytes(4)) }),
  mpls: payload.mpls,
  ...(payload.tunnel !== undefined && { tunnel: payload.tunnel }),
  protocol: payload.protocol,
});

/** The interface that frames leave by; undefined: that of the route, as between two agents of one machine. */
export const interfaceFor = ({ interface: name, targets }: ClientPart): { readonly interface?: string } =>
  name === undefined || targets.some(({ host }) => isLoopback(host)) ? {} : { interface: name };
