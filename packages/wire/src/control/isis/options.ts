import type { IsisAuthentication } from './authentication.ts';
import type { IsisNetwork } from './generated-network.ts';
import type { Level } from './pdu.ts';
import type { Topologies } from './topologies.ts';

/** States of an adjacency as the three-way handshake writes them (RFC 5303). */
export const adjacencyState = { up: 0, init: 1, down: 2 } as const;
export type AdjacencyState = (typeof adjacencyState)[keyof typeof adjacencyState];

export interface IsisOptions extends Topologies {
  /** Twelve hexadecimal digits. */
  readonly systemId: string;
  readonly levels: readonly Level[];
  readonly areas: readonly Uint8Array[];
  /** Own address and its network on the link. */
  readonly address: number;
  readonly prefixBits: number;
  /** Next hop of IPv6. */
  readonly linkLocal: Int32Array | undefined;
  /** Twelve hexadecimal digits. */
  readonly mac: string;
  readonly isBroadcast: boolean;
  readonly helloSec: number;
  readonly holdMultiplier: number;
  readonly metric: number;
  readonly priority: number;
  /** Hellos are padded to the MTU. */
  readonly pads: boolean;
  readonly csnpSec: number;
  readonly mtu: number;
  readonly isOverloaded: boolean;
  readonly lifetimeSec: number;
  readonly refreshSec: number;
  readonly authentication: IsisAuthentication;
  readonly network: IsisNetwork;
  /** Time between changes of a metric in the generated network; 0: none. */
  readonly changeSec: number;
  readonly random: () => number;
}

/** A neighbour on the link. */
export interface IsisAdjacency {
  readonly systemId: string;
  readonly mac: string;
  levels: readonly Level[];
  state: AdjacencyState;
  heardAt: number;
  holdMs: number;
  upAt: number;
  priority: number;
  lanId: string;
  topologies: readonly number[];
  /** IPv4 addresses of its interface. */
  addresses: readonly number[];
}

export interface IsisEvents {
  /** Sends a PDU to all systems of a level, or to all on a point-to-point link. */
  send(pdu: Uint8Array, to: Level | 'all'): void;
  onAdjacency(adjacency: IsisAdjacency, isUp: boolean, reason: string): void;
}
