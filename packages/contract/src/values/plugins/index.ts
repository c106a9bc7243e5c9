import type { PluginSpec } from './plugin.ts';
import { compromisedHost } from './security/compromised-host.ts';
import { cveReplay } from './security/cve-replay.ts';
import { fuzzing } from './security/fuzzing.ts';
import { malwareTransfer } from './security/malware-transfer.ts';
import { waf } from './security/waf.ts';
import { accessPlane, controlPlane, suite } from './suite-and-planes.ts';
import { application } from './traffic/application.ts';
import { convergence } from './traffic/convergence.ts';
import { dns } from './traffic/dns.ts';
import { harReplay } from './traffic/har-replay.ts';
import { http } from './traffic/http.ts';
import { icmp } from './traffic/icmp.ts';
import { ipsecLoad } from './traffic/ipsec-load.ts';
import { ipsecTunnel } from './traffic/ipsec-tunnel.ts';
import { pcapReplay } from './traffic/pcap-replay.ts';
import { rocev2 } from './traffic/rocev2.ts';
import { statelessServer } from './traffic/stateless-server.ts';
import { stream } from './traffic/stream.ts';
import { tcp } from './traffic/tcp.ts';
import { tls } from './traffic/tls.ts';
import { udp } from './traffic/udp.ts';

/** All plugins. To add one, write its file and list it here. */
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

/** Plugins with rules of their own. */
export const suitePluginId = suite.id;
export const accessPlanePluginId = accessPlane.id;
export const controlPlanePluginId = controlPlane.id;
