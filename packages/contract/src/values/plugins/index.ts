import { application } from './application.ts';
import { compromisedHost } from './compromised-host.ts';
import { convergence } from './convergence.ts';
import { cveReplay } from './cve-replay.ts';
import { dns } from './dns.ts';
import { fuzzing } from './fuzzing.ts';
import { harReplay } from './har-replay.ts';
import { http } from './http.ts';
import { icmp } from './icmp.ts';
import { ipsecLoad } from './ipsec-load.ts';
import { ipsecTunnel } from './ipsec-tunnel.ts';
import { malwareTransfer } from './malware-transfer.ts';
import { pcapReplay } from './pcap-replay.ts';
import { accessPlane, controlPlane } from './planes.ts';
import type { PluginSpec } from './plugin.ts';
import { rocev2 } from './rocev2.ts';
import { statelessServer } from './stateless-server.ts';
import { stream } from './stream.ts';
import { suite } from './suite.ts';
import { tcp } from './tcp.ts';
import { tls } from './tls.ts';
import { udp } from './udp.ts';
import { waf } from './waf.ts';

/** Everything a task can be made of, by id. A new plugin is a file and a line. */
export const plugins: readonly PluginSpec[] = [
  http,
  tcp,
  udp,
  dns,
  icmp,
  statelessServer,
  stream,
  pcapReplay,
  harReplay,
  application,
  tls,
  ipsecTunnel,
  ipsecLoad,
  rocev2,
  waf,
  cveReplay,
  malwareTransfer,
  fuzzing,
  compromisedHost,
  convergence,
  suite,
  accessPlane,
  controlPlane,
];

const byId = new Map(plugins.map((plugin) => [plugin.id, plugin]));

export const findPlugin = (id: number): PluginSpec | undefined => byId.get(id);

/** The ids that stand for themselves in the rules of a task. */
export const suitePluginId = suite.id;
export const accessPlanePluginId = accessPlane.id;
export const controlPlanePluginId = controlPlane.id;
