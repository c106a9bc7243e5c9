const bits = 8;
const size = 1 << bits;
const mask = size - 1;
const levels = 4;
const none = -1;

/**
 * Hierarchical timing wheel (four levels of 256 slots) for one timer for each small integer id. Ticks are integers that
 * only grow; the owner chooses their length. Setting and cancelling cost the same however many timers there are.
 */
export class TimerWheel {
  readonly #heads = new Int32Array(levels * size).fill(none);
  #next: Int32Array;
  #previous: Int32Array;
  /** List of the wheel that holds the id, or -1. */
  #list: Int32Array;
  /** Tick at which the id fires. */
  #due: Int32Array;
  #tick: number;
  count = 0;

  constructor(tick: number, capacity = 64) {
    this.#tick = tick;
    this.#next = new Int32Array(capacity);
    this.#previous = new Int32Array(capacity);
    this.#list = new Int32Array(capacity).fill(none);
    this.#due = new Int32Array(capacity);
  }

  isSet(id: number): boolean {
    return id < this.#list.length && this.#list[id] !== none;
  }

  /** Tick at which a set timer fires. */
  dueOf(id: number): number {
    return this.#due[id] as number;
  }

  /** Sets or moves the timer of an id; ticks that are over fire on the next advance. */
  set(id: number, due: number): void {
    if (id >= this.#list.length) this.#grow(id + 1);
    if (this.#list[id] !== none) this.#unlink(id);
    else this.count++;
    this.#due[id] = due > this.#tick ? due : this.#tick + 1;
    this.#link(id);
  }

  clear(id: number): void {
    if (!this.isSet(id)) return;
    this.#unlink(id);
    this.#list[id] = none;
    this.count--;
  }

  /** Fires everything due up to and including `tick`. `fire` may set and clear timers. */
  advance(tick: number, fire: (id: number) => void): void {
    while (this.#tick < tick) {
      if (this.count === 0) {
        this.#tick = tick;
        return;
      }
      this.#tick++;
      for (let level = 1; level < levels && (this.#tick & ((1 << (bits * level)) - 1)) === 0; level++) {
        this.#cascade(level * size + ((this.#tick >>> (bits * level)) & mask));
      }
      this.#fireList(this.#tick & mask, fire);
    }
  }

  /** A tick not later than the next timer, at most `horizon` ticks ahead; exact for timers less than 256 ticks ahead. */
  nextDue(horizon: number): number {
    if (this.count === 0) return this.#tick + horizon;
    const limit = Math.min(horizon, size - (this.#tick & mask));
    for (let ahead = 1; ahead < limit; ahead++) {
      if (this.#heads[(this.#tick + ahead) & mask] !== none) return this.#tick + ahead;
    }
    return this.#tick + limit;
  }

  #fireList(list: number, fire: (id: number) => void): void {
    for (;;) {
      const id = this.#heads[list] as number;
      if (id === none) return;
      this.#unlink(id);
      this.#list[id] = none;
      this.count--;
      fire(id);
    }
  }

  #cascade(list: number): void {
    let id = this.#heads[list] as number;
    this.#heads[list] = none;
    while (id !== none) {
      const next = this.#next[id] as number;
      this.#link(id);
      id = next;
    }
  }

  #link(id: number): void {
    const due = this.#due[id] as number;
    const ahead = due - this.#tick;
    let level = 0;
    while (level < levels - 1 && ahead >= 1 << (bits * (level + 1))) level++;
    const list = level * size + ((due >>> (bits * level)) & mask);
    const head = this.#heads[list] as number;
    this.#next[id] = head;
    this.#previous[id] = none;
    if (head !== none) this.#previous[head] = id;
    this.#heads[list] = id;
    this.#list[id] = list;
  }

  #unlink(id: number): void {
    const next = this.#next[id] as number;
    const previous = this.#previous[id] as number;
    if (previous === none) this.#heads[this.#list[id] as number] = next;
    else this.#next[previous] = next;
    if (next !== none) this.#previous[next] = previous;
  }

  #grow(minimum: number): void {
    let capacity = this.#list.length;
    while (capacity < minimum) capacity *= 2;
    const grown = (old: Int32Array, fill: number) => {
      const array = new Int32Array(capacity).fill(fill);
      array.set(old);
      return array;
    };
    this.#next = grown(this.#next, 0);
    this.#previous = grown(this.#previous, 0);
    this.#list = grown(this.#list, none);
    this.#due = grown(this.#due, 0);
  }
}
