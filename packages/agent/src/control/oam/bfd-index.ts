import { copyAddress, KeyTable, parseAddress } from '@rushhour/wire';
import { type BfdInstance, bfdPorts } from './bfd-instance.ts';

/** Own address, address of the neighbour, port. */
const keyWords = 9;
const portWord = 8;

/** BFD sessions by what their packets have in common; tens of thousands of packets a second are looked up. */
export class BfdIndex {
  readonly sessions: BfdInstance[] = [];
  readonly #slots = new KeyTable({ width: keyWords, seed: 0x3f84d5b5 });
  readonly #key = new Int32Array(keyWords);

  /** False: there is one with the same addresses and port. */
  add(instance: BfdInstance): boolean {
    this.#write(parseAddress(instance.address), parseAddress(instance.peer), instance.port);
    if (this.#slots.find(this.#key, 0) >= 0) return false;
    this.sessions[this.#slots.add(this.#key, 0)] = instance;
    return true;
  }

  /** The session of a router with a neighbour, on any port. */
  find(address: string, peer: string): BfdInstance | undefined {
    const [local, remote] = [parseAddress(address), parseAddress(peer)];
    for (const port of Object.values(bfdPorts)) {
      this.#write(local, remote, port);
      const slot = this.#slots.find(this.#key, 0);
      if (slot >= 0) return this.sessions[slot];
    }
    return undefined;
  }

  /** The session of a datagram: `flow` has both addresses, then the ports. */
  of(flow: Int32Array): BfdInstance | undefined {
    const key = this.#key;
    for (let word = 0; word < portWord; word++) key[word] = flow[word] as number;
    key[portWord] = (flow[portWord] as number) >>> 16;
    return this.sessions[this.#slots.find(key, 0)];
  }

  #write(local: Int32Array, remote: Int32Array, port: number): void {
    copyAddress(local, 0, this.#key, 0);
    copyAddress(remote, 0, this.#key, 4);
    this.#key[portWord] = port;
  }
}
