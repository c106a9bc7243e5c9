import { controlPlane } from '../control/control-engine.ts';
import type { Engine } from '../engine.ts';
import { accessPlane } from './access-plane/index.ts';
import { application } from './application/index.ts';
import { compromisedHost, cveReplay, fuzzing, malwareTransfer, waf } from './attack/index.ts';
import { convergence } from './convergence/index.ts';
import { dns } from './dns/index.ts';
import { harReplay } from './har-replay/index.ts';
import { http } from './http/index.ts';
import { icmp } from './icmp/index.ts';
import { ipsecLoad } from './ipsec-load/index.ts';
import { ipsecTunnel } from './ipsec-tunnel/index.ts';
import { pcapReplay } from './pcap-replay/index.ts';
import { rocev2 } from './rocev2/index.ts';
import { statelessServer } from './stateless-server/index.ts';
import { stream } from './stream/index.ts';
import { tcp } from './tcp/index.ts';
import { tls } from './tls/index.ts';
import { udp } from './udp/index.ts';

/** Every engine this agent can run. Adding an engine is adding a folder and a line here. */
const all: readonly Engine[] = [
  accessPlane,
  application,
  compromisedHost,
  controlPlane,
  convergence,
  cveReplay,
  dns,
  fuzzing,
  harReplay,
  http,
  icmp,
  ipsecLoad,
  ipsecTunnel,
  malwareTransfer,
  pcapReplay,
  rocev2,
  statelessServer,
  stream,
  tcp,
  tls,
  udp,
  waf,
];

export const engines: ReadonlyMap<string, Engine> = new Map(all.map((engine) => [engine.id, engine]));
