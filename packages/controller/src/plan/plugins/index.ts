import type { PlanScope } from '../core/plan-scope.ts';
import type { Traffic } from '../core/traffic.ts';
import { planPcapReplay } from './packets/pcap-replay.ts';
import { planStream } from './packets/stream.ts';
import { planApplication } from './replay/application.ts';
import { planHarReplay } from './replay/har-replay.ts';
import { planCompromisedHost } from './security/compromised-host.ts';
import { planCveReplay } from './security/cve-replay.ts';
import { planFuzzing } from './security/fuzzing.ts';
import { planMalwareTransfer } from './security/malware-transfer.ts';
import { planWaf } from './security/waf.ts';
import { planDns } from './sockets/dns.ts';
import { planHttp } from './sockets/http.ts';
import { planIcmp } from './sockets/icmp.ts';
import { planStatelessServer } from './sockets/stateless-server.ts';
import { planTcp } from './sockets/tcp.ts';
import { planTls } from './sockets/tls.ts';
import { planUdp } from './sockets/udp.ts';

/** What can be run, by the id of the plugin. A suite is not among them: its children are. */
export const planners: ReadonlyMap<number, (scope: PlanScope) => Traffic> = new Map([
  [1, planHttp],
  [2, planTcp],
  [3, planUdp],
  [4, planDns],
  [5, planIcmp],
  [6, planStatelessServer],
  [7, planStream],
  [8, planPcapReplay],
  [9, planHarReplay],
  [10, planApplication],
  [11, planTls],
  [15, planWaf],
  [16, planCveReplay],
  [17, planMalwareTransfer],
  [19, planCompromisedHost],
  [18, planFuzzing],
]);
