export { AccessClient, type AccessClientOptions } from './access/access-client.ts';
export { AccessGateway, type AccessGatewayOptions } from './access/access-gateway.ts';
export { ancpTechnology, type LineReport } from './access/ancp/message.ts';
export { AncpPeer } from './access/ancp/peer.ts';
export type { SessionCause } from './access/causes.ts';
export { type AdmittedClient, maxAdmitted } from './access/dhcp/admission.ts';
export type { DhcpClientOptions } from './access/dhcp/client.ts';
export type { Dhcpv6ClientOptions } from './access/dhcpv6/client-options.ts';
export { maxPeers, type PortPeer } from './access/dot1x/authenticator.ts';
export { portAccessMac } from './access/dot1x/eapol.ts';
export type { SupplicantOptions } from './access/dot1x/supplicants.ts';
export { FrameWriter } from './access/frames.ts';
export type { GroupHosts, GroupHostsOptions, HostPort } from './access/groups/group-hosts.ts';
export { IgmpHosts, type IgmpOptions } from './access/igmp/hosts.ts';
export { alertHeaderBytes, igmpProtocol, writeAlertHeader } from './access/igmp/message.ts';
export type { IpoeOptions } from './access/ipoe.ts';
export type { Ipoe6Options } from './access/ipv6/ipoe6.ts';
export type { Ipoe6GatewayOptions } from './access/ipv6/ipoe6-gateway.ts';
export type { L2tpLns } from './access/l2tp/lns.ts';
export { l2tpPort } from './access/l2tp/tunnels.ts';
export { lacpState } from './access/lag/lacp-message.ts';
export { LinkGroup } from './access/lag/link-group.ts';
export { lineCapacity, untagged, type VlanPlan } from './access/lines.ts';
export { PacedSink } from './access/paced-sink.ts';
export { authMethod as pppAuthMethod } from './access/ppp/lcp.ts';
export type { PppOptions } from './access/ppp/ppp.ts';
export type { PppoeClientOptions } from './access/pppoe/client.ts';
export type { PppoeServerOptions } from './access/pppoe/server.ts';
export type { RadiusSessionsOptions } from './access/radius/sessions.ts';
export {
  type SessionStep,
  type SessionTable,
  sessionState,
  sessionStates,
  sessionSteps,
} from './access/session-table.ts';
export { SpanningTree, type SpanningTreeOptions } from './access/stp/spanning-tree.ts';
export type { Tree } from './access/stp/tree.ts';
export type { TreePort } from './access/stp/tree-port.ts';
export type { SubscriberListener } from './access/subscribers.ts';
export { checksumOf, foldSum, isSumValid, sumBytes, updateChecksum } from './bytes/checksum.ts';
export { KeyTable } from './bytes/key-table.ts';
export { bytesOfHex, copyOf, createMemory, hexOfBytes, Memory } from './bytes/memory.ts';
export { type PackedBytes, packBytes } from './bytes/packed-bytes.ts';
export { SummedBytes } from './bytes/summed-bytes.ts';
export { TimerWheel } from './bytes/timer-wheel.ts';
export { bytesOfAddress, textOfAddress } from './control/address-bytes.ts';
export { BfdSigner, bfdAuthentication } from './control/bfd/authentication.ts';
export { bfdBytes, parseBfd } from './control/bfd/packet.ts';
export { type BfdEvents, BfdSession } from './control/bfd/session.ts';
export type { PathAttributes } from './control/bgp/attributes.ts';
export type { BgpConnection, BgpStream } from './control/bgp/connection.ts';
export { describeAttributes } from './control/bgp/describe-attributes.ts';
export { EvpnRoutes } from './control/bgp/evpn/generated-routes.ts';
export { type HostMove, HostMoves } from './control/bgp/evpn/host-moves.ts';
export type { EvpnOptions } from './control/bgp/evpn/options.ts';
export { type BgpFamily, type BgpFamilyName, familyOf } from './control/bgp/families.ts';
export { VplsSites } from './control/bgp/layer2/vpls-sites.ts';
export { VpwsWires } from './control/bgp/layer2/vpws-wires.ts';
export type { BgpWire, BgpWires } from './control/bgp/layer2/wires.ts';
export { ImportedTable } from './control/bgp/mrt/imported-table.ts';
export { MrtReader, type MrtRoute } from './control/bgp/mrt/reader.ts';
export { ceaseReason } from './control/bgp/notification.ts';
export { OpeningQueue } from './control/bgp/opening-queue.ts';
export { createPrefixSource, nextHopOf, type RouteSource } from './control/bgp/route-source.ts';
export { BgpSession, type BgpSessionOptions } from './control/bgp/session.ts';
export { FlapSchedule } from './control/flap-schedule.ts';
export type { GroupQuerier, Membership, QuerierEvents, QuerierOptions } from './control/groups/group-querier.ts';
export { IgmpQuerier } from './control/igmp/querier.ts';
export type { IsisAuthentication } from './control/isis/authentication.ts';
export { IsisNetwork, systemIdAfter } from './control/isis/generated-network.ts';
export type { IsisAdjacency, IsisOptions } from './control/isis/options.ts';
export { hexOf as isisHex, idText as isisIdText, type Level } from './control/isis/pdu.ts';
export { IsisRouter } from './control/isis/router.ts';
export { LdpBindings } from './control/ldp/bindings.ts';
export type { LdpExtension } from './control/ldp/extension.ts';
export type { LdpNeighbour } from './control/ldp/neighbour.ts';
export { ldpPort } from './control/ldp/pdu.ts';
export { LdpRouter, ldpGroups } from './control/ldp/router.ts';
export type { LdpSession, LdpStream } from './control/ldp/session.ts';
export type { TreeName } from './control/ldp/trees/tree-fec.ts';
export { TreeService } from './control/ldp/trees/tree-service.ts';
export { wireTypes } from './control/ldp/wires/wire-fec.ts';
export { generalizedNames, numberedNames, type WireNames } from './control/ldp/wires/wire-names.ts';
export { WireService } from './control/ldp/wires/wire-service.ts';
export { LinkOam } from './control/link-oam/link.ts';
export { oamFlag, oamGroup, slowProtocols } from './control/link-oam/pdu.ts';
export { MldHosts } from './control/mld/hosts.ts';
export { isFromLink, mldMessageAt, writeMldHeader } from './control/mld/message.ts';
export { MldQuerier } from './control/mld/querier.ts';
export {
  answerLspEcho,
  type LspEcho,
  type LspPrefix,
  lspMessage,
  lspPingPort,
  lspReplyMode,
  lspReturn,
  lspTarget,
  parseLspEcho,
  writeLspEcho,
} from './control/mpls-oam/message.ts';
export { LspPing } from './control/mpls-oam/pinger.ts';
export { parseTp, type TpEnd, type TpMessage, tpGroupMac } from './control/mpls-tp/message.ts';
export { TpPath } from './control/mpls-tp/path.ts';
export { type AreaKind, type OspfNetwork, ospfProtocol, type PacketEnds } from './control/ospf/format.ts';
export { type OspfNeighbour, ospfStateName } from './control/ospf/neighbour.ts';
export type { OspfOptions } from './control/ospf/options.ts';
export { OspfRouter } from './control/ospf/router.ts';
export { ospfVersion2 } from './control/ospf/version2/format.ts';
export { Version2Area } from './control/ospf/version2/generated-area.ts';
export type { OspfAuthentication } from './control/ospf/version2/packet.ts';
export type { Version3Authentication } from './control/ospf/version3/authentication.ts';
export { ospfVersion3 } from './control/ospf/version3/format.ts';
export { Version3Area } from './control/ospf/version3/generated-area.ts';
export { pimProtocol } from './control/pim/message.ts';
export type { PimNeighbour } from './control/pim/neighbours.ts';
export type { PimOptions } from './control/pim/options.ts';
export type { ReceivedTree } from './control/pim/received-trees.ts';
export { allPimRouters, PimRouter } from './control/pim/router.ts';
export { PrefixSequence } from './control/prefix-sequence.ts';
export { type RipAuthentication, ripFormat, ripPort } from './control/rip/packet.ts';
export { ripngFormat, ripngPort } from './control/rip/packet-next-generation.ts';
export { RipRouter, ripGroups } from './control/rip/router.ts';
export type { TopologyKind } from './control/topology.ts';
export { PeapMsChap, TtlsMsChap, TtlsPap } from './eap/inner-methods.ts';
export { MsChapClient } from './eap/ms-chap-client.ts';
export { TlsEapClient } from './eap/tls-eap-client.ts';
export { type EapTls, type InnerMethod, TlsMethod, tlsEapType } from './eap/tls-method.ts';
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
export { type GptpMessage, gptpGroupMac, gptpType, maxGptpBytes, writeGptp } from './gptp/message.ts';
export { TimePort, type TimePortOptions } from './gptp/time-port.ts';
export { flowMix, groupOfFlow } from './host-group/flow-share.ts';
export { GtpPaths, gtpControlPort } from './host-group/gtp-paths.ts';
export {
  HostGroup,
  type HostGroupOptions,
  type MulticastHandler,
  type OtherFrameHandler,
  type PacketHandler,
  type RawHandler,
} from './host-group/host-group.ts';
export {
  type BurstSink,
  createRouter,
  type FrameSink,
  type HostDirectory,
  type OnLinkPrefix,
  type SegmentCut,
} from './host-group/hosts.ts';
export type { IcmpHandler, OutgoingIcmp } from './host-group/icmp-responder.ts';
export type { Packet } from './host-group/packet.ts';
export { Tunnel, type TunnelReceiver, TunnelSet } from './host-group/tunnel.ts';
export type { UdpHandler, UdpLayer } from './host-group/udp-layer.ts';
export { type WireGuardEnd, WireGuardSet, WireGuardTunnel } from './host-group/wireguard-tunnel.ts';
export { GrpcError, GrpcReader, grpcFrames, grpcStatus, grpcStatusName } from './http/grpc-message.ts';
export { H2Connection } from './http/h2/h2-connection.ts';
export type { H2Events } from './http/h2/h2-events.ts';
export { h2Error } from './http/h2/h2-frame.ts';
export { H3Connection } from './http/h3/h3-connection.ts';
export type { H3Events } from './http/h3/h3-events.ts';
export { h3Error } from './http/h3/h3-frame.ts';
export type { Header } from './http/hpack.ts';
export { sendable, unsendable } from './http/message-rules.ts';
export {
  type MessageCompression,
  WebSocketConnection,
  type WebSocketEvents,
} from './http/websocket/websocket-connection.ts';
export { closeCode, isCloseCode } from './http/websocket/websocket-frame.ts';
export { agreedOf, answerUpgrade, parseUpgradeHead, upgradeHeaders } from './http/websocket/websocket-handshake.ts';
export { errorKindOf, type IcmpErrorKind, IcmpMessage, icmp4Type, icmp6Type, writeIcmp } from './icmp/icmp.ts';
export {
  createIcmpRequest,
  type IcmpRequest,
  type IcmpRequestKind,
  icmpRequests,
} from './icmp/icmp-request.ts';
export {
  copyAddress,
  formatAddress,
  isMappedAddress,
  isSameAddress,
  parseAddress,
  writeAddress6,
  writeMapped,
} from './ip/address.ts';
export { defaultHeaderFields, type HeaderFields, ipProtocol } from './ip/header-fields.ts';
export { Ipv4Header, writeIpv4 } from './ip/ipv4.ts';
export { Ipv6Header, writeIpv6 } from './ip/ipv6.ts';
export { pseudoHeaderSum } from './ip/pseudo-header.ts';
export { ReassemblyStore } from './ip/reassembly.ts';
export { EspInbound, EspOutbound, espPayloadRoom } from './ipsec/esp/esp-sa.ts';
export { ChildSa } from './ipsec/ike/child-sa.ts';
export type {
  CipherKeys,
  CipherSpec,
  Credential,
  IpsecCrypto,
  KeyExchange,
  PacketCipher,
  PacketRange,
  PeerCheck,
} from './ipsec/ike/crypto.ts';
export { identificationOf } from './ipsec/ike/exchanges/auth-exchange.ts';
export { IkeEndpoint, type IkeEndpointOptions } from './ipsec/ike/ike-endpoint.ts';
export type { IkeEvents, IkeSa, IkeState } from './ipsec/ike/ike-sa.ts';
export { espKeyLines, ikeKeyLine } from './ipsec/ike/key-lines.ts';
export type { IkeKeys } from './ipsec/ike/key-schedule.ts';
export {
  encryptionKeyBytes,
  findEncryption,
  findGroup,
  findIntegrity,
  findPrf,
  integrityKeyBytes,
  suiteName,
} from './ipsec/ike/messages/algorithms.ts';
export {
  authMethod,
  encryptionId,
  exchangeType,
  groupId,
  hashId,
  integrityId,
  prfId,
} from './ipsec/ike/messages/numbers.ts';
export type { Identification, TrafficSelector } from './ipsec/ike/messages/payloads.ts';
export { anySelector, hasAddress, selectorOf } from './ipsec/ike/messages/selectors.ts';
export { espOffer, ikeOffers, type Offer, type Suite } from './ipsec/ike/messages/suites.ts';
export {
  defaultIkeTimers,
  type EapClient,
  type IkeAuthentication,
  type IkeCause,
  type IkePeer,
  type IkeRoute,
  type IkeTimers,
} from './ipsec/ike/peer.ts';
export { createGeneve, type GeneveOption } from './links/geneve.ts';
export { createGre, type GreOptions } from './links/gre.ts';
export { createGtpu, type GtpuOptions, writeGtpuEchoRequest } from './links/gtpu.ts';
export { createIpip } from './links/ipip.ts';
export { createL2tpv3, type L2tpv3Options } from './links/l2tpv3.ts';
export type { LinkCarrier, LinkCodec, LinkPayload } from './links/link.ts';
export { createMpls, type MplsLabel } from './links/mpls.ts';
export { createVxlan } from './links/vxlan.ts';
export { NeighbourCache } from './neighbours/neighbour-cache.ts';
export { OpenFlowFabric } from './openflow/fabric.ts';
export { type OpenFlowVersion, openFlowVersion } from './openflow/message.ts';
export type { OpenFlowSwitch } from './openflow/switch.ts';
export type { OpenFlowTopology } from './openflow/topology.ts';
export { AckTracker } from './quic/loss-detection.ts';
export { type ConnectionHandler, RdmaNode } from './rdma/node.ts';
export type { QueuePair, QueuePairOptions } from './rdma/queue-pair.ts';
export { type Dcqcn, defaultDcqcn } from './rdma/rate-control.ts';
export type { RdmaVerb } from './rdma/requester.ts';
export { rdmaPort, UdpCarrier } from './rdma/udp-carrier.ts';
export { type CloseCause, TcpConnection, type TcpEvents, tcpState } from './tcp/connection.ts';
export {
  defaultTcpLimits,
  type SegmentSink,
  type SignatureKeyOf,
  type TcpCounters,
  type TcpLimits,
  type TcpListener,
} from './tcp/context.ts';
export { flowWords, portsWord } from './tcp/segment/flow-key.ts';
export { Segment, tcpFlag } from './tcp/segment/segment.ts';
export type { SegmentShape } from './tcp/segment/segment-shape.ts';
export { defaultTcpSettings, type TcpSettings } from './tcp/settings.ts';
export { Tcp, type TcpOptions } from './tcp/tcp.ts';
export { UdpHeader, writeUdp, writeUdpUnchecked } from './udp/udp.ts';
export { blake2s } from './wireguard/blake2s.ts';
export type { Aead, WireGuardCrypto } from './wireguard/crypto.ts';
