import type { Planner } from '../core/planner.ts';
import { ipsecLoadPlanner } from './ipsec/ipsec-load.ts';
import { ipsecTunnelPlanner } from './ipsec/ipsec-tunnel.ts';
import { convergencePlanner } from './packets/convergence.ts';
import { pcapReplayPlanner } from './packets/pcap-replay.ts';
import { rocev2Planner } from './packets/rocev2.ts';
import { streamPlanner } from './packets/stream.ts';
import { applicationPlanner } from './replay/application.ts';
import { harReplayPlanner } from './replay/har-replay.ts';
import { compromisedHostPlanner } from './security/compromised-host.ts';
import { cveReplayPlanner } from './security/cve-replay.ts';
import { fuzzingPlanner } from './security/fuzzing.ts';
import { malwareTransferPlanner } from './security/malware-transfer.ts';
import { wafPlanner } from './security/waf.ts';
import { dnsPlanner } from './sockets/dns.ts';
import { httpPlanner } from './sockets/http.ts';
import { icmpPlanner } from './sockets/icmp.ts';
import { statelessServerPlanner } from './sockets/stateless-server.ts';
import { tcpPlanner } from './sockets/tcp.ts';
import { tlsPlanner } from './sockets/tls.ts';
import { udpPlanner } from './sockets/udp.ts';

/** The plugins that can run, by id. A suite is not among them: its children are. */
export const planners: ReadonlyMap<number, Planner> = new Map(
  [
    httpPlanner,
    tcpPlanner,
    udpPlanner,
    dnsPlanner,
    icmpPlanner,
    statelessServerPlanner,
    streamPlanner,
    pcapReplayPlanner,
    harReplayPlanner,
    applicationPlanner,
    tlsPlanner,
    ipsecTunnelPlanner,
    ipsecLoadPlanner,
    rocev2Planner,
    wafPlanner,
    cveReplayPlanner,
    malwareTransferPlanner,
    fuzzingPlanner,
    compromisedHostPlanner,
    convergencePlanner,
  ].map((planner) => [planner.plugin.id, planner]),
);
