import type { PlanScope } from '../plan-scope.ts';
import type { Traffic } from '../traffic.ts';
import { planApplication } from './application.ts';
import { planCompromisedHost } from './compromised-host.ts';
import { planCveReplay } from './cve-replay.ts';
import { planDns } from './dns.ts';
import { planFuzzing } from './fuzzing.ts';
import { planHarReplay } from './har-replay.ts';
import { planHttp } from './http.ts';
import { planIcmp } from './icmp.ts';
import { planMalwareTransfer } from './malware-transfer.ts';
import { planPcapReplay } from './pcap-replay.ts';
import { planStatelessServer } from './stateless-server.ts';
import { planStream } from './stream.ts';
import { planTcp } from './tcp.ts';
import { planTls } from './tls.ts';
import { planUdp } from './udp.ts';
import { planWaf } from './waf.ts';

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
