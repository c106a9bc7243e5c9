import type { StreamClientConfig } from '@rushhour/protocol';
import type { Layer } from '../../net/packet/frame/layer.ts';
import { ethernetLayer, mplsLayer, vlanLayer } from '../../net/packet/frame/link-layers.ts';
import { greLayer, ipLayer } from '../../net/packet/frame/network-layers.ts';
import {
  echoLayer,
  type Ports,
  tcpLayer,
  udpLayer,
  vxlanLayer,
  vxlanPort,
} from '../../net/packet/frame/transport-layers.ts';

type Headers = StreamClientConfig['headers'];

/** Addresses of a frame: first hop and end to end. */
export interface Ends {
  readonly sourceMac: Uint8Array;
  readonly nextHopMac: Uint8Array;
  readonly source: string;
  readonly destination: string;
  readonly ports: Ports;
}

const transportLayers = ({ protocol }: Headers, { destination, ports }: Ends): Layer[] => {
  if (protocol === 'udp') return [udpLayer(ports)];
  if (protocol === 'tcp') return [tcpLayer(ports)];
  if (protocol === 'icmp') return [echoLayer(destination.includes(':') ? 'icmp6' : 'icmp', ports.source)];
  return [];
};

const tunnelLayers = (headers: Headers, ends: Ends): Layer[] => {
  const { tunnel } = headers;
  if (tunnel === undefined) return [];
  const outer = ipLayer({ ...headers, source: tunnel.source, destination: tunnel.destination });
  if (tunnel.type === 'gre') return [outer, greLayer(tunnel.key)];
  const ports = { source: 49_152 + (ends.ports.source % 16_384), destination: vxlanPort };
  return [outer, udpLayer(ports), vxlanLayer(tunnel.network), ethernetLayer(ends.nextHopMac, ends.sourceMac)];
};

/** All headers of a frame, outermost first. */
export const layersOf = (headers: Headers, ends: Ends): Layer[] => [
  ethernetLayer(ends.nextHopMac, ends.sourceMac),
  ...headers.vlan.map(vlanLayer),
  ...headers.mpls.map(mplsLayer),
  ...tunnelLayers(headers, ends),
  ipLayer({ ...headers, source: ends.source, destination: ends.destination }),
  ...transportLayers(headers, ends),
];
