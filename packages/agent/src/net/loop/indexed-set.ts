/** An element of an `IndexedSet`. Only the set writes its index. */
export interface IndexedMember {
  setIndex: number;
}

/**
 * A set for short-lived objects such as connections. Each element stores its own index, so no operation hashes or
 * searches.
 */
export class IndexedSet<T extends IndexedMember> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  has(member: T): boolean {
    // Reading index -1 of an array would be slower than all the rest.
    return member.setIndex >= 0 && this.#members[member.setIndex] === member;
  }

  add(member: T): void {
    if (!this.has(member)) member.setIndex = this.#members.push(member) - 1;
  }

  /** The last element moves to the freed index. */
  delete(member: T): void {
    if (!this.has(member)) return;
    const last = this.#members.pop() as T;
    const { setIndex: index } = member;
    member.setIndex = -1;
    if (last === member) return;
    this.#members[index] = last;
    last.setIndex = index;
  }

  /** Iterates backwards: an element that removes itself during iteration moves only one that was already visited. */
  *[Symbol.iterator](): Generator<T> {
    for (let index = this.#members.length - 1; index >= 0; index--) yield this.#members[index] as T;
  }
}
