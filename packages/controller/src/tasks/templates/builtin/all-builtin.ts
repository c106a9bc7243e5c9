import type { BuiltinTemplate } from './builtin-template.ts';
import { ikeHandshakes } from './networks/ike-handshakes.ts';
import { ipsecTunnels } from './networks/ipsec-tunnels.ts';
import {
  bgpFullTable,
  bgpTableOfFile,
  convergenceAfterFailure,
  evpnFabric,
  ospfArea,
  rdmaIncast,
} from './networks/routers.ts';
import {
  dhcpFlood,
  dot1xShiftChange,
  iptvZapping,
  l2tpWholesale,
  lacpMemberFlap,
  pppoeLoginStorm,
} from './networks/subscribers.ts';
import { rekeyStorm, remoteAccess, tunnelThroughput } from './networks/vpn.ts';
import { withLabels } from './parameter-names.ts';
import { survivePeak } from './suites/peak-suite.ts';
import { rfc2544, rfc9411Https } from './suites/rfc-benchmarks.ts';
import { rfc9411Templates } from './suites/rfc9411.ts';
import { withThresholds } from './threshold-presets.ts';
import {
  commandAndControl,
  httpFuzzing,
  ipsSignatures,
  malwareDownload,
  oneSignature,
  wafProtection,
} from './traffic/attacks.ts';
import { http3AgainstHttp2, secureDns } from './traffic/compared-transports.ts';
import { dnsQueries } from './traffic/dns-queries.ts';
import { grpcLatency } from './traffic/grpc-latency.ts';
import { httpManyClients } from './traffic/http-many-clients.ts';
import { httpMaximum } from './traffic/http-maximum.ts';
import { httpRate } from './traffic/http-rate.ts';
import { httpSubscribers } from './traffic/http-subscribers.ts';
import { pings, udpEchoServer } from './traffic/reachability.ts';
import { applicationUsers, captureReplay, pppoeSubscribers, websiteVisits } from './traffic/replays.ts';
import { httpsRate, tlsResumption } from './traffic/secure-transports.ts';
import { tcpConnections } from './traffic/tcp-connections.ts';
import { certificateHandshakes, tlsHandshakes } from './traffic/tls-handshakes.ts';
import { udpLoss } from './traffic/udp-loss.ts';
import { websocketFanOut } from './traffic/websocket-fan-out.ts';

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
