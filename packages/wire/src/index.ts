export { checksumOf, foldSum, isSumValid, sumBytes, updateChecksum } from './bytes/checksum.ts';
export { KeyTable } from './bytes/key-table.ts';
export { bytesOfHex, createMemory, hexOfBytes, Memory } from './bytes/memory.ts';
export { TimerWheel } from './bytes/timer-wheel.ts';
export { ArpMessage, arpOperation, writeArp } from './ethernet/arp.ts';
export {
  EthernetHeader,
  etherType,
  formatMac,
  parseMac,
  vlanIds,
  vlanTags,
  writeEtherTypes,
} from './ethernet/ethernet.ts';
export { HostGroup, type HostGroupOptions, type PacketHandler } from './host-group/host-group.ts';
export { createRouter, type FrameSink, type HostDirectory, type OnLinkPrefix } from './host-group/hosts.ts';
export type { IcmpHandler } from './host-group/icmp-responder.ts';
export type { Packet } from './host-group/packet.ts';
export { Tunnel, type TunnelReceiver, TunnelSet } from './host-group/tunnel.ts';
export type { UdpHandler } from './host-group/udp-layer.ts';
export { errorKindOf, type IcmpErrorKind, IcmpMessage, icmp4Type, icmp6Type, writeIcmp } from './icmp/icmp.ts';
export { copyAddress, formatAddress, isMappedAddress, isSameAddress, parseAddress, writeMapped } from './ip/address.ts';
export { defaultHeaderFields, type HeaderFields, ipProtocol } from './ip/header-fields.ts';
export { Ipv4Header, writeIpv4 } from './ip/ipv4.ts';
export { Ipv6Header, writeIpv6 } from './ip/ipv6.ts';
export { ReassemblyStore } from './ip/reassembly.ts';
export { createGeneve, type GeneveOption } from './links/geneve.ts';
export { createGre, type GreOptions } from './links/gre.ts';
export { createGtpu, type GtpuOptions, writeGtpuEchoRequest } from './links/gtpu.ts';
export { createIpip } from './links/ipip.ts';
export { createL2tpv3, type L2tpv3Options } from './links/l2tpv3.ts';
export type { LinkCarrier, LinkCodec, LinkPayload } from './links/link.ts';
export { createMpls, type MplsLabel } from './links/mpls.ts';
export { createVxlan } from './links/vxlan.ts';
export { NeighbourCache } from './neighbours/neighbour-cache.ts';
export { type CloseCause, TcpConnection, type TcpEvents, tcpState } from './tcp/connection.ts';
export {
  defaultTcpLimits,
  type SegmentSink,
  type TcpCounters,
  type TcpLimits,
  type TcpListener,
} from './tcp/context.ts';
export { flowWords, portsWord } from './tcp/flow-key.ts';
export { Segment, tcpFlag } from './tcp/segment.ts';
export { defaultTcpSettings, type TcpSettings } from './tcp/settings.ts';
export { Tcp, type TcpOptions } from './tcp/tcp.ts';
export { UdpHeader, writeUdp } from './udp/udp.ts';
