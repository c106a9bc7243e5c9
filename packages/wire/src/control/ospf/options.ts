import type { OspfArea, OspfFormat, OspfNetwork } from './format.ts';
import type { OspfNeighbour } from './neighbour.ts';

export interface OspfOptions {
  /** The version and what it says about the router. */
  readonly format: OspfFormat;
  readonly routerId: number;
  readonly areaId: number;
  readonly network: OspfNetwork;
  /** Whom packets go to one by one, where the network has no multicast. Others are taken by themselves. */
  readonly neighbours: readonly Int32Array[];
  readonly helloSec: number;
  readonly deadSec: number;
  readonly retransmitSec: number;
  readonly priority: number;
  readonly mtu: number;
  readonly ignoresMtu: boolean;
  readonly area: OspfArea;
  /** Time between changes of a metric in the generated network; 0: none. */
  readonly changeSec: number;
  readonly random: () => number;
}

export interface OspfEvents {
  /** Sends a packet to an address. */
  send(bytes: Uint8Array, destination: Int32Array): void;
  onNeighbour(neighbour: OspfNeighbour, isUp: boolean, reason: string): void;
}
