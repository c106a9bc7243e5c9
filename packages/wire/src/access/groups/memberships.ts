/** What a slot of a membership is doing. */
export const membership = { none: 0, joining: 1, receiving: 2, leaving: 3 } as const;

/** Group memberships of hosts in typed arrays. Every channel of a host has two slots: the present and the one before. */
export class Memberships {
  readonly slots: number;
  readonly state: Uint8Array;
  /** Number of the group of each slot. */
  readonly group: Int32Array;
  /** When the slot was joined or left. */
  readonly sinceMs: Float64Array;
  /** When the last packet of a group that was left arrived. */
  readonly lastMs: Float64Array;
  /** Reports that are still to be repeated. */
  readonly repeats: Uint8Array;
  readonly #parity: Uint8Array;
  readonly #channels: number;
  /** Slots that wait for packets, by group and line. */
  readonly #watched = new Map<number, Set<number>>();

  constructor(hosts: number, channels: number) {
    this.slots = hosts * channels * 2;
    this.#channels = channels;
    this.state = new Uint8Array(this.slots);
    this.group = new Int32Array(this.slots);
    this.sinceMs = new Float64Array(this.slots);
    this.lastMs = new Float64Array(this.slots);
    this.repeats = new Uint8Array(this.slots);
    this.#parity = new Uint8Array(hosts * channels);
  }

  sessionOf(slot: number): number {
    return Math.floor(slot / (2 * this.#channels));
  }

  /** The slot that a channel of a host uses. */
  current(session: number, channel: number): number {
    const index = session * this.#channels + channel;
    return index * 2 + (this.#parity[index] as number);
  }

  /** Makes the other slot of a channel the present one and returns it. */
  flip(session: number, channel: number): number {
    const index = session * this.#channels + channel;
    this.#parity[index] = 1 - (this.#parity[index] as number);
    return this.current(session, channel);
  }

  isMember(slot: number): boolean {
    return this.state[slot] === membership.joining || this.state[slot] === membership.receiving;
  }

  watch(slot: number, line: number): void {
    const key = this.#keyOf(this.group[slot] as number, line);
    const watching = this.#watched.get(key);
    if (watching === undefined) this.#watched.set(key, new Set([slot]));
    else watching.add(slot);
  }

  unwatch(slot: number, line: number): void {
    const key = this.#keyOf(this.group[slot] as number, line);
    const watching = this.#watched.get(key);
    if (watching?.delete(slot) && watching.size === 0) this.#watched.delete(key);
  }

  /** Slots that wait for packets of a group on a line. */
  watching(group: number, line: number): ReadonlySet<number> | undefined {
    return this.#watched.get(this.#keyOf(group, line));
  }

  /** A line is a VLAN, or a session that has a line of its own: below 2^24. */
  #keyOf(group: number, line: number): number {
    return group * 2 ** 24 + line;
  }
}
