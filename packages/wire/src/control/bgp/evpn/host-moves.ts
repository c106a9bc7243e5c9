/** A host that leaves a router and appears behind another one. */
export interface HostMove {
  readonly host: number;
  readonly from: number;
  readonly to: number;
  /** Moves of this host so far, for the community that says which route is newer. */
  readonly sequence: number;
}

export interface HostMovesOptions {
  readonly routers: number;
  readonly hostsPerRouter: number;
  /** 0: hosts stay where they are. */
  readonly intervalMs: number;
}

/** Moves hosts one after the other, each time to the next router. */
export class HostMoves {
  readonly #options: HostMovesOptions;
  readonly #moved = new Map<number, HostMove>();
  #nextHost = 0;
  #nextAt = Number.POSITIVE_INFINITY;

  constructor(options: HostMovesOptions) {
    this.#options = options;
  }

  /** The latest move of each host that has moved: what a router says after its own routes when a session comes up. */
  get moved(): IterableIterator<HostMove> {
    return this.#moved.values();
  }

  start(now: number): void {
    const { routers, hostsPerRouter, intervalMs } = this.#options;
    const canMove = intervalMs > 0 && routers > 1 && hostsPerRouter > 0;
    this.#nextAt = canMove ? now + intervalMs : Number.POSITIVE_INFINITY;
  }

  /** The move that is due, if one is. The new router announces the host before the old one withdraws it. */
  advance(now: number): HostMove | undefined {
    if (now < this.#nextAt) return undefined;
    const { routers, hostsPerRouter, intervalMs } = this.#options;
    const host = this.#nextHost;
    const before = this.#moved.get(host);
    const from = before?.to ?? Math.floor(host / hostsPerRouter);
    const move = { host, from, to: (from + 1) % routers, sequence: (before?.sequence ?? 0) + 1 };
    this.#moved.set(host, move);
    this.#nextHost = (host + 1) % (routers * hostsPerRouter);
    this.#nextAt += intervalMs;
    return move;
  }
}
