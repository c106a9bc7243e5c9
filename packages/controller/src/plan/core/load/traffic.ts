import type { Rotation, Sources, StackNetwork, Target } from '@rushhour/protocol';
import type { Endpoint } from './traffic-entry.ts';
import type { TrafficEstimate } from './traffic-estimate.ts';

/** What one client of an entry gets of it. */
export interface ClientPart {
  readonly targets: Target[];
  /** Addresses and ports, those of ranges included. */
  readonly targetCount: number;
  /** Which of the targets of the entry each of them belongs to. */
  readonly targetIndexes: readonly number[];
  readonly sources: Sources;
  /** Addresses that it sends from. */
  readonly sourceCount: number;
  readonly rotation: Rotation;
  /** Networks of the source, where its frames have MACs of their own. */
  readonly hosts?: readonly StackNetwork[];
  /** The interface that the source names. */
  readonly interface?: string;
  /** Which of those that take part it is. */
  readonly position: { readonly index: number; readonly count: number };
  /** Its part of a rate of the whole entry; undefined stays so. */
  rate(whole: number | undefined): number | undefined;
  /** Its part of a number of things; 0 where there are fewer than clients. */
  whole(whole: number): number;
  /** Sum of the parts of all clients before it. */
  offset(whole: number): number;
  /** Its part of concurrent connections: at least one, at most `max`; more is reported as an issue. */
  concurrentShare(whole: number, max: number): number;
}

/** Most connections or flows that one engine keeps; emulated hosts need no descriptor for each. */
export const maxConcurrent = { tcp: 100_000, emulatedTcp: 1_000_000, udp: 10_000 } as const;

/** The configuration of an engine, and what it will do to the network. */
export interface ClientDraft {
  readonly config: object;
  readonly estimate: TrafficEstimate;
  readonly hasRate: boolean;
}

/** What a plugin makes of the values of an entry. */
export interface Traffic {
  readonly engine: string;
  /** Of the sockets that listen. */
  readonly transport: 'tcp' | 'udp' | 'icmp' | 'raw';
  /** Where targets name none. */
  readonly defaultPorts: string;
  /** Targets told elsewhere than in `targets`, where that is empty. */
  readonly extraTargets?: readonly { endpoint: Endpoint; path: string }[];
  /** The engine takes ranges of addresses as targets. */
  readonly takesRanges?: boolean;
  /** False: sources answer others, and need no targets. */
  readonly needsTargets?: boolean;
  /** Rates and numbers of the whole entry: a client whose part of one would be nothing takes no part. */
  readonly rates?: readonly (number | undefined)[];
  readonly totals?: readonly (number | undefined)[];
  /** Undefined for a plugin that only answers. */
  readonly client?: (part: ClientPart) => ClientDraft;
  /** Addresses that no interface has are answered for by the engine, and must not become the machine's own. */
  readonly isEmulated?: boolean;
  /** The other side, without the places it listens on. */
  server(): { readonly config: object; readonly estimate?: Partial<TrafficEstimate> };
  /** How the configuration of the engine writes an endpoint to listen on. */
  listen?(endpoint: { host: string; port: number }): object;
}
