import { type AreaKind, type OspfArea, optionsOf } from './generated-area.ts';
import type { OspfNeighbour } from './neighbour.ts';
import type { Hello, OspfAuthentication } from './packet.ts';

export const ospfGroups = { all: 0xe0000005, designated: 0xe0000006 } as const;

export interface OspfOptions {
  readonly routerId: number;
  readonly areaId: number;
  readonly areaKind: AreaKind;
  readonly address: number;
  readonly mask: number;
  readonly isBroadcast: boolean;
  readonly helloSec: number;
  readonly deadSec: number;
  readonly retransmitSec: number;
  readonly cost: number;
  readonly priority: number;
  readonly mtu: number;
  readonly ignoresMtu: boolean;
  readonly isOverloaded: boolean;
  readonly authentication: OspfAuthentication;
  readonly area: OspfArea;
  /** Time between changes of a metric in the generated network; 0: none. */
  readonly changeSec: number;
  readonly random: () => number;
}

export interface OspfEvents {
  /** Sends a packet to an IPv4 address. */
  send(bytes: Uint8Array, destination: number): void;
  onNeighbour(neighbour: OspfNeighbour, isUp: boolean, reason: string): void;
}

/** Timers, mask and kind of area must be the same on both sides (RFC 2328, section 10.5). */
export const isHelloAccepted = (hello: Hello, options: OspfOptions): boolean =>
  hello.helloSec === options.helloSec &&
  hello.deadSec === options.deadSec &&
  (!options.isBroadcast || hello.mask === options.mask) &&
  (hello.options & 2) === (optionsOf(options.areaKind) & 2);
