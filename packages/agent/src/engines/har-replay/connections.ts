import type { HarReplayClientConfig } from '@rushhour/protocol';
import type { Answer, Request } from './answer.ts';
import { type Lane, LaneError } from './lane.ts';

/** Connections that requests of a kind share. */
interface Group {
  readonly lanes: Lane[];
  opening: number;
  waiting: (() => void)[];
}

/** Which connection a request goes on. */
export interface LaneWish {
  /** Index of the origin. */
  readonly origin: number;
  readonly isH2: boolean;
  readonly connection?: string | undefined;
}

export interface ConnectionsOptions extends Pick<HarReplayClientConfig, 'connections' | 'maxPerHost'> {
  /** Rejects with a `LaneError`. */
  readonly open: (origin: number) => Promise<Lane>;
}

/** The connections of one user. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #groups = new Map<string, Group>();
  readonly #all = new Set<Lane>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Rejects with a `LaneError`. */
  async exchange(wish: LaneWish, request: Request, timeoutMs: number): Promise<Answer> {
    if (this.#options.connections === 'perEntry') return this.#exchangeAlone(wish, request, timeoutMs);
    const group = this.#groupOf(wish);
    for (;;) {
      const lane = await this.#acquire(group, wish);
      const wasUsed = lane.answered > 0;
      try {
        return await lane.exchange(request, timeoutMs);
      } catch (error) {
        // A server may close a connection that lies idle just when it is used again: that is nobody's failure.
        const isStale = wasUsed && error instanceof LaneError && /^(closed|ECONNRESET|EPIPE)$/.test(error.code);
        if (!isStale) throw error;
      } finally {
        this.#release(group, lane);
      }
    }
  }

  close(): void {
    for (const lane of this.#all) lane.close();
    this.#all.clear();
    this.#groups.clear();
  }

  /** Of one visit: another visit of the same user opens others. */
  endVisit(): void {
    if (this.#options.connections === 'recorded') this.close();
  }

  async #exchangeAlone({ origin }: LaneWish, request: Request, timeoutMs: number): Promise<Answer> {
    const lane = await this.#open(origin);
    try {
      return await lane.exchange(request, timeoutMs);
    } finally {
      lane.close();
      this.#all.delete(lane);
    }
  }

  #groupOf({ origin, connection }: LaneWish): Group {
    const isRecorded = this.#options.connections === 'recorded' && connection !== undefined;
    const key = isRecorded ? `${origin} ${connection}` : String(origin);
    const group = this.#groups.get(key) ?? { lanes: [], opening: 0, waiting: [] };
    this.#groups.set(key, group);
    return group;
  }

  #mostLanes({ lanes }: Group, { isH2, connection }: LaneWish): number {
    if (this.#options.connections === 'recorded' && connection !== undefined) return 1;
    // A server that was asked for HTTP/2 may have agreed on less.
    return isH2 && lanes.every((lane) => lane.isShared) ? 1 : this.#options.maxPerHost;
  }

  async #open(origin: number): Promise<Lane> {
    const lane = await this.#options.open(origin);
    this.#all.add(lane);
    return lane;
  }

  async #acquire(group: Group, wish: LaneWish): Promise<Lane> {
    for (;;) {
      for (const gone of group.lanes.filter((lane) => !lane.isOpen)) this.#forget(group, gone);
      const free = group.lanes.find((lane) => lane.hasRoom);
      if (free !== undefined) {
        free.reserve();
        return free;
      }
      if (group.lanes.length + group.opening < this.#mostLanes(group, wish)) return this.#add(group, wish.origin);
      await new Promise<void>((resolve) => group.waiting.push(resolve));
    }
  }

  async #add(group: Group, origin: number): Promise<Lane> {
    group.opening++;
    try {
      const lane = await this.#open(origin);
      lane.reserve();
      group.lanes.push(lane);
      return lane;
    } finally {
      group.opening--;
      this.#wake(group);
    }
  }

  #release(group: Group, lane: Lane): void {
    if (!lane.isOpen) this.#forget(group, lane);
    this.#wake(group);
  }

  #forget(group: Group, lane: Lane): void {
    const at = group.lanes.indexOf(lane);
    if (at >= 0) group.lanes.splice(at, 1);
    this.#all.delete(lane);
  }

  #wake(group: Group): void {
    const { waiting } = group;
    group.waiting = [];
    for (const wake of waiting) wake();
  }
}
