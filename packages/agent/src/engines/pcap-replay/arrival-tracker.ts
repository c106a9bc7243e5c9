const windowFrames = 65_536;
// A frame that was just seen is a duplicate, unless the next of its kind would be as near as that.
const duplicateFactor = 16;
const mostLookedBack = 64;

export type Arrival = 'next' | 'late' | 'duplicate' | 'foreign';

/**
 * Finds arriving frames in the order in which they were sent, by their content alone. Frames of equal content are told
 * apart by their place: the nearest one that is still missing is taken.
 */
export class ArrivalTracker {
  /** Frames passed over by the last arrival that was `next`. */
  gap = 0;
  /** Place of the last arrival within one playing. */
  place = 0;
  /** Place of the farthest arrival, counted over all playings; −1 before the first. */
  highest = -1;
  /** Places of each content in one playing, ascending. */
  readonly #places = new Map<number, number[]>();
  readonly #count: number;
  readonly #total: number;
  readonly #seen = new Uint8Array(windowFrames);

  /** `keys` of one playing in order; `loops` of 0 for no end. */
  constructor(keys: readonly number[], loops: number) {
    this.#count = keys.length;
    this.#total = loops === 0 ? Number.POSITIVE_INFINITY : loops * keys.length;
    for (const [place, key] of keys.entries()) {
      const known = this.#places.get(key);
      if (known === undefined) this.#places.set(key, [place]);
      else known.push(place);
    }
  }

  /** How many frames are still to come after the farthest one; endless where there is no end. */
  get outstanding(): number {
    return this.#total - this.highest - 1;
  }

  arrive(key: number): Arrival {
    const places = this.#places.get(key);
    if (places === undefined) return 'foreign';
    const { ahead, missing, seen } = this.#candidates(places);
    const toAhead = ahead - this.highest;
    if (missing >= 0 && this.highest - missing < toAhead) return this.#take(missing, 'late');
    const isRepeated = seen >= 0 && (this.highest - seen + 1) * duplicateFactor < toAhead;
    if (isRepeated || ahead >= this.#total) return 'duplicate';
    this.gap = toAhead - 1;
    this.#advance(ahead);
    return this.#take(ahead, 'next');
  }

  /** The nearest places of a content: ahead, missing behind, and seen behind; −1 for none. */
  #candidates(places: readonly number[]): { ahead: number; missing: number; seen: number } {
    const base = Math.floor(Math.max(0, this.highest) / this.#count) * this.#count;
    const above = firstAbove(places, this.highest - base);
    const at = (index: number): number => {
      const turn = Math.floor(index / places.length);
      return base + turn * this.#count + (places[index - turn * places.length] as number);
    };
    let [missing, seen] = [-1, -1];
    for (let back = 1; back <= mostLookedBack && missing < 0; back++) {
      const candidate = at(above - back);
      if (candidate < 0 || candidate <= this.highest - windowFrames) break;
      if (this.#seen[candidate % windowFrames] === 0) missing = candidate;
      else if (seen < 0) seen = candidate;
    }
    return { ahead: at(above), missing, seen };
  }

  #advance(place: number): void {
    const from = Math.max(this.highest + 1, place - windowFrames + 1);
    for (let passed = from; passed <= place; passed++) this.#seen[passed % windowFrames] = 0;
    this.highest = place;
  }

  #take(place: number, arrival: Arrival): Arrival {
    this.#seen[place % windowFrames] = 1;
    this.place = place % this.#count;
    return arrival;
  }
}

/** Index of the first place above a limit, in ascending ones. */
const firstAbove = (places: readonly number[], limit: number): number => {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((places[middle] as number) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
};
