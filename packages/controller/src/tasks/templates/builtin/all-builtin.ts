import {
  commandAndControl,
  httpFuzzing,
  ipsSignatures,
  malwareDownload,
  oneSignature,
  wafProtection,
} from './attacks.ts';
import type { BuiltinTemplate } from './builtin-template.ts';
import { http3AgainstHttp2, secureDns } from './compared-transports.ts';
import { dnsQueries } from './dns-queries.ts';
import { grpcLatency } from './grpc-latency.ts';
import { httpManyClients } from './http-many-clients.ts';
import { httpMaximum } from './http-maximum.ts';
import { httpRate } from './http-rate.ts';
import { httpSubscribers } from './http-subscribers.ts';
import { ikeHandshakes } from './ike-handshakes.ts';
import { ipsecTunnels } from './ipsec-tunnels.ts';
import { withLabels } from './parameter-names.ts';
import { survivePeak } from './peak-suite.ts';
import { pings, udpEchoServer } from './reachability.ts';
import { applicationUsers, captureReplay, pppoeSubscribers, websiteVisits } from './replays.ts';
import { rfc2544, rfc9411Https } from './rfc-benchmarks.ts';
import { rfc9411Templates } from './rfc9411.ts';
import { bgpFullTable, bgpTableOfFile, convergenceAfterFailure, evpnFabric, ospfArea, rdmaIncast } from './routers.ts';
import { httpsRate, tlsResumption } from './secure-transports.ts';
import {
  dhcpFlood,
  dot1xShiftChange,
  iptvZapping,
  l2tpWholesale,
  lacpMemberFlap,
  pppoeLoginStorm,
} from './subscribers.ts';
import { tcpConnections } from './tcp-connections.ts';
import { withThresholds } from './threshold-presets.ts';
import { certificateHandshakes, tlsHandshakes } from './tls-handshakes.ts';
import { udpLoss } from './udp-loss.ts';
import { rekeyStorm, remoteAccess, tunnelThroughput } from './vpn.ts';
import { websocketFanOut } from './websocket-fan-out.ts';

const plain: readonly BuiltinTemplate[] = [
  httpRate,
  httpMaximum,
  tlsHandshakes,
  tcpConnections,
  udpLoss,
  dnsQueries,
  httpManyClients,
  httpSubscribers,
  bgpFullTable,
  ospfArea,
  convergenceAfterFailure,
  ipsecTunnels,
  ikeHandshakes,
  rfc2544,
  rfc9411Https,
  wafProtection,
  ipsSignatures,
  malwareDownload,
  commandAndControl,
  httpFuzzing,
  captureReplay,
  websiteVisits,
  applicationUsers,
  pppoeSubscribers,
  httpsRate,
  tlsResumption,
  rdmaIncast,
  pppoeLoginStorm,
  l2tpWholesale,
  dhcpFlood,
  iptvZapping,
  lacpMemberFlap,
  dot1xShiftChange,
  remoteAccess,
  tunnelThroughput,
  rekeyStorm,
  ...rfc9411Templates,
  websocketFanOut,
  grpcLatency,
  secureDns,
  http3AgainstHttp2,
  pings,
  udpEchoServer,
  survivePeak,
  oneSignature,
  certificateHandshakes,
  bgpTableOfFile,
  evpnFabric,
];

/** In the order of their ids on a new installation. */
export const allBuiltin: readonly BuiltinTemplate[] = plain.map(withThresholds).map(withLabels);
