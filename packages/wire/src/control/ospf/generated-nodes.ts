import { createTopology, type TopologyOptions } from '../topology.ts';

/** What an emulated router announces besides itself. */
export interface GeneratedPrefixes {
  readonly routerId: number;
  readonly topology: TopologyOptions & {
    readonly prefixesPerNode: number;
    /** The first prefix of all routers, and how many come before those of this one. */
    readonly firstPrefix: string;
    readonly offset: number;
  };
  readonly externals: {
    readonly count: number;
    readonly firstPrefix: string;
    readonly offset: number;
    readonly isType2: boolean;
    readonly metric: number;
  };
}

export const nodeMetric = 10;

/** The emulated router among the nodes. */
export const emulatedRouter = -1;

/** The routers behind an emulated router; their ids follow its own. */
export class GeneratedNodes {
  readonly #routerId: number;
  readonly #neighboursOf: readonly (readonly number[])[];
  /** Metric of each node; changes on purpose. */
  readonly #metrics: Uint16Array;

  constructor(routerId: number, topology: TopologyOptions) {
    this.#routerId = routerId;
    this.#neighboursOf = createTopology(topology);
    this.#metrics = new Uint16Array(this.count).fill(nodeMetric);
  }

  get count(): number {
    return this.#neighboursOf.length;
  }

  idOf(node: number): number {
    return (this.#routerId + 1 + node) >>> 0;
  }

  has(routerId: number): boolean {
    const offset = (routerId - this.#routerId) >>> 0;
    return offset >= 1 && offset <= this.count;
  }

  /** Nodes that a node has links to. */
  linksOf(node: number): number[] {
    return [...(node === 0 ? [emulatedRouter] : []), ...(this.#neighboursOf[node] ?? [])];
  }

  metricOf(node: number): number {
    return this.#metrics[node] as number;
  }

  /** Gives a node another metric; returns which. */
  changeMetric(random: () => number): number {
    const node = Math.floor(random() * this.count);
    this.#metrics[node] = 1 + Math.floor(random() * 100);
    return node;
  }
}
