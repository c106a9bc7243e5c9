import { AddressIndex } from '../address-index.ts';
import { PeerLines } from '../lines.ts';

/** Hosts that are known at once; the oldest one is forgotten for a new one. */
const maxHosts = 65_536;

/** Where hosts are that have made addresses from an advertised prefix. */
export class NeighbourTable {
  readonly #prefix: Int32Array;
  readonly #index = new AddressIndex(maxHosts, 4);
  readonly #lines = new PeerLines(maxHosts);
  #next = 0;

  constructor(prefix: Int32Array) {
    this.#prefix = prefix;
  }

  /** Notes the sender of a packet. */
  learn(words: Int32Array, bytes: Uint8Array, macAt: number, tags: number): void {
    if (words[0] !== this.#prefix[0] || words[1] !== this.#prefix[1]) return;
    let host = this.#index.find(words, 0);
    if (host < 0) {
      host = this.#next;
      this.#next = (host + 1) % maxHosts;
      this.#index.set(host, words, 0);
    }
    this.#lines.set(host, bytes, macAt, tags);
  }

  /** The host with an address, or -1. */
  find(words: Int32Array, at: number): number {
    return this.#index.find(words, at);
  }

  writeClientMac(host: number, bytes: Uint8Array, at: number): void {
    this.#lines.writeMac(host, bytes, at);
  }

  tagsOf(host: number): number {
    return this.#lines.tagsOf(host);
  }
}
