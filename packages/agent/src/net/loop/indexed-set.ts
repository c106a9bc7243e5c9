/** One of a crowd. Only the crowd writes its place. */
export interface Member {
  place: number;
}

/** Things that come and go with every connection. Each knows its place: a set would have to look for it. */
export class Crowd<T extends Member> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  has(member: T): boolean {
    // Looking at place -1 of an array would cost more than all the rest.
    return member.place >= 0 && this.#members[member.place] === member;
  }

  add(member: T): void {
    if (!this.has(member)) member.place = this.#members.push(member) - 1;
  }

  /** The last takes the place that becomes free. */
  delete(member: T): void {
    if (!this.has(member)) return;
    const last = this.#members.pop() as T;
    const { place } = member;
    member.place = -1;
    if (last === member) return;
    this.#members[place] = last;
    last.place = place;
  }

  /** From the last to the first: so one that leaves when its turn comes moves nobody who waits. */
  *[Symbol.iterator](): Generator<T> {
    for (let place = this.#members.length - 1; place >= 0; place--) yield this.#members[place] as T;
  }
}
