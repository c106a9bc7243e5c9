import type { PlaneCommand } from '@rushhour/protocol';
import type { HostLayers, HostNetwork } from '../../net/host-network.ts';
import type { Transport } from '../../net/transport/transport.ts';
import type { EvpnFabrics } from './evpn-fabric.ts';
import type { RouteTables } from './route-files.ts';

/** An emulated router: one emulated host. */
export interface Router {
  /** Number among all routers of the job, from 0 on. */
  readonly index: number;
  readonly address: string;
  /** Address of a second host, which protocols of IPv6 use; only where one of them is run. */
  readonly linkLocal?: string | undefined;
  /** Mask of its network; 0 for IPv6. */
  readonly mask: number;
  /** The machine itself has the address: its kernel answers for it. */
  readonly isMachine: boolean;
}

/** A neighbour of an emulated router, as results list it. */
export interface NeighbourRow {
  readonly router: string;
  readonly protocol: string;
  readonly neighbour: string;
  readonly state: string;
  readonly isUp: boolean;
  readonly uptimeMs: number;
  readonly flaps: number;
  readonly routesSent: number;
  readonly routesReceived: number;
  /** Entries of the link-state database. */
  readonly databaseSize: number;
  readonly lastError: string;
}

/** Messages and routes since the start; a plane reports the differences. */
export interface InstanceCounters {
  tx: number;
  rx: number;
  flaps: number;
  prefixesSent: number;
  prefixesReceived: number;
}

/** One protocol of one router. Times are milliseconds of `performance.now`. */
export interface ProtocolInstance {
  readonly protocol: string;
  start(now: number): void;
  /** Called every tick: runs timers. */
  advance(now: number): void;
  /** Ends the sessions; the neighbours are informed. */
  stop(now: number): void;
  readonly counters: Readonly<InstanceCounters>;
  neighbours(now: number): readonly NeighbourRow[];
  /** Carries out a command; returns why it cannot. */
  command(command: PlaneCommand, now: number): string | undefined;
  /** Routes of the neighbours, at most `limit`. */
  routes(limit: number): readonly RouteRow[];
}

/** A protocol whose adjacencies may end with BFD sessions. */
export interface WatchedInstance extends ProtocolInstance {
  readonly router: Router;
  readonly isWatched: boolean;
  /** The neighbour with an address is lost. */
  lose(address: string, now: number): void;
}

/** A route that a neighbour has announced. */
export interface RouteRow {
  readonly router: string;
  readonly neighbour: string;
  readonly protocol: string;
  readonly family: string;
  readonly route: string;
  readonly nextHop: string;
  /** Attributes in the form of the protocol. */
  readonly detail: string;
  /** Of a neighbour that restarts, and not announced again yet. */
  readonly isStale?: boolean;
}

/** A protocol of a router as the task describes it. */
export interface InstanceOptions<Profile> {
  readonly profile: Profile;
  readonly router: Router;
  /** Number among the routers with the same profile, from 0 on: what is generated continues from router to router. */
  readonly ordinal: number;
  /** Index of the emulated host. */
  readonly host: number;
}

/** What the instances on one interface share. */
export interface PlaneContext {
  readonly network: HostNetwork;
  readonly layers: HostLayers;
  readonly transport: Transport;
  /** Routes of files. */
  readonly tables: RouteTables;
  /** The fabrics of all routers of the job. */
  readonly fabrics: EvpnFabrics;
  /** A neighbour has come up after so many microseconds. */
  recordAdjacency(us: number): void;
  /** A neighbour has been missed after so many microseconds. */
  recordDetection(us: number): void;
  /** Packets of a group have come so many microseconds after it was joined. */
  recordJoin(us: number): void;
  /** Packets of a group came for so many microseconds after it was left. */
  recordLeave(us: number): void;
  /** Something happened to a neighbour, for the list of events. */
  event(protocol: string, router: Router, text: string): void;
}
