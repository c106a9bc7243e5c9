/** A session that opens a connection, or waits until it may. */
export interface Opening {
  /** The neighbour has answered or the session no longer wants the connection. */
  end(): void;
}

/**
 * Lets sessions with one neighbour open a few connections at a time: routers listen with short queues, and a SYN that
 * finds the queue full is lost.
 */
export class OpeningQueue {
  readonly #limit: number;
  readonly #holdMs: number;
  readonly #waiting = new Map<Opening, (now: number) => void>();
  /** When each was begun; the oldest first. */
  readonly #begun = new Map<Opening, number>();

  /** An opening without an answer makes room for another one after `holdMs`. */
  constructor({ limit, holdMs }: { readonly limit: number; readonly holdMs: number }) {
    this.#limit = limit;
    this.#holdMs = holdMs;
  }

  /** `begin` is called by `advance`. */
  request(begin: (now: number) => void): Opening {
    const opening: Opening = {
      end: () => {
        this.#waiting.delete(opening);
        this.#begun.delete(opening);
      },
    };
    this.#waiting.set(opening, begin);
    return opening;
  }

  advance(now: number): void {
    if (this.#waiting.size === 0) return;
    for (const [opening, begunAt] of this.#begun) {
      if (now - begunAt < this.#holdMs) break;
      this.#begun.delete(opening);
    }
    for (const [opening, begin] of this.#waiting) {
      if (this.#begun.size >= this.#limit) break;
      this.#waiting.delete(opening);
      this.#begun.set(opening, now);
      begin(now);
    }
  }
}
