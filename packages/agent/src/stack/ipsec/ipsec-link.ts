import type { ChildSa, IkeSa } from '@rushhour/wire';

/** One tunnel: the flow of its outer packets, and the child SAs that packets are sent by. */
export class IpsecLink {
  readonly index: number;
  /** Outer local and remote address, and the ports of ESP in UDP. */
  readonly key: Int32Array;
  path: number;
  sa: IkeSa | undefined;
  /** Not before this time it is opened again after a failure. */
  retryAt = 0;
  startedMs = 0;
  /** By index among the child SAs of the tunnel. */
  readonly #outbound: ChildSa[] = [];
  /** Child SAs that the peer has made to replace others. */
  readonly #waiting = new Map<ChildSa, ChildSa>();

  constructor(index: number, key: Int32Array, path: number) {
    this.index = index;
    this.key = key;
    this.path = path;
  }

  get isUp(): boolean {
    return this.#outbound.length > 0;
  }

  get isEncapsulated(): boolean {
    return this.sa?.hasNat ?? false;
  }

  /** The child SA for packets of a host. */
  childFor(host: number): ChildSa | undefined {
    const { length } = this.#outbound;
    return length <= 1 ? this.#outbound[0] : this.#outbound[host % length];
  }

  /** What the peer has asked for is not used before a packet arrives by it: the peer may not have it yet. */
  add(child: ChildSa, replaced: ChildSa | undefined): void {
    if (replaced === undefined) this.#outbound.push(child);
    else if (child.isInitiator) this.#replace(replaced, child);
    else this.#waiting.set(child, replaced);
  }

  /** A packet has arrived by the child SA. */
  heard(child: ChildSa): void {
    if (this.#waiting.size > 0) this.#activate(child);
  }

  remove(child: ChildSa): void {
    for (const [next, replaced] of this.#waiting) if (replaced === child) this.#activate(next);
    this.#waiting.delete(child);
    const at = this.#outbound.indexOf(child);
    if (at >= 0) this.#outbound.splice(at, 1);
  }

  #activate(child: ChildSa): void {
    const replaced = this.#waiting.get(child);
    if (replaced === undefined) return;
    this.#waiting.delete(child);
    this.#replace(replaced, child);
  }

  #replace(replaced: ChildSa, by: ChildSa): void {
    const at = this.#outbound.indexOf(replaced);
    if (at >= 0) this.#outbound[at] = by;
    else this.#outbound.push(by);
  }
}
