const windowFrames = 65_536;
// A frame seen recently is a duplicate, unless the next frame with equal content is about as close.
const duplicateFactor = 16;
const maxLookedBack = 64;

export type Arrival = 'next' | 'late' | 'duplicate' | 'foreign';

/**
 * Matches received frames to the sequence of sent frames by content. Among frames of equal content the nearest missing
 * one is taken.
 */
export class ArrivalTracker {
  /** Frames skipped by the last `next` arrival. */
  gap = 0;
  /** Position of the last arrival within one loop. */
  position = 0;
  /** Highest position received, counted over all loops; −1 before the first. */
  highest = -1;
  /** Positions of each content in one loop, ascending. */
  readonly #positions = new Map<number, number[]>();
  readonly #count: number;
  readonly #total: number;
  readonly #seen = new Uint8Array(windowFrames);

  /** `keys` of one loop in order; `loops` 0: endless. */
  constructor(keys: readonly number[], loops: number) {
    this.#count = keys.length;
    this.#total = loops === 0 ? Number.POSITIVE_INFINITY : loops * keys.length;
    for (const [position, key] of keys.entries()) {
      const known = this.#positions.get(key);
      if (known === undefined) this.#positions.set(key, [position]);
      else known.push(position);
    }
  }

  /** Number of frames expected after the highest position; may be infinite. */
  get outstanding(): number {
    return this.#total - this.highest - 1;
  }

  arrive(key: number): Arrival {
    const positions = this.#positions.get(key);
    if (positions === undefined) return 'foreign';
    const { ahead, missing, seen } = this.#candidates(positions);
    const toAhead = ahead - this.highest;
    if (missing >= 0 && this.highest - missing < toAhead) return this.#take(missing, 'late');
    const isRepeated = seen >= 0 && (this.highest - seen + 1) * duplicateFactor < toAhead;
    if (isRepeated || ahead >= this.#total) return 'duplicate';
    this.gap = toAhead - 1;
    this.#advance(ahead);
    return this.#take(ahead, 'next');
  }

  /** Nearest positions of a content: ahead, missing behind, seen behind; −1 for none. */
  #candidates(positions: readonly number[]): { ahead: number; missing: number; seen: number } {
    const base = Math.floor(Math.max(0, this.highest) / this.#count) * this.#count;
    const above = firstAbove(positions, this.highest - base);
    const at = (index: number): number => {
      const round = Math.floor(index / positions.length);
      return base + round * this.#count + (positions[index - round * positions.length] as number);
    };
    let [missing, seen] = [-1, -1];
    for (let back = 1; back <= maxLookedBack && missing < 0; back++) {
      const candidate = at(above - back);
      if (candidate < 0 || candidate <= this.highest - windowFrames) break;
      if (this.#seen[candidate % windowFrames] === 0) missing = candidate;
      else if (seen < 0) seen = candidate;
    }
    return { ahead: at(above), missing, seen };
  }

  #advance(position: number): void {
    const from = Math.max(this.highest + 1, position - windowFrames + 1);
    for (let passed = from; passed <= position; passed++) this.#seen[passed % windowFrames] = 0;
    this.highest = position;
  }

  #take(position: number, arrival: Arrival): Arrival {
    this.#seen[position % windowFrames] = 1;
    this.position = position % this.#count;
    return arrival;
  }
}

/** Index of the first position above `limit` in an ascending list. */
const firstAbove = (positions: readonly number[], limit: number): number => {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((positions[middle] as number) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
};
