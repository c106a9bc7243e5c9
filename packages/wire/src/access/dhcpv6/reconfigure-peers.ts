import type { FrameRoute } from '../frames.ts';

const keyBytes = 16;

/** A client that may be asked to renew. */
export interface ReconfigurePeer {
  readonly key: Uint8Array;
  readonly clientId: Uint8Array;
  readonly route: FrameRoute;
  /** Addresses of the server and of the client. */
  readonly own: Int32Array;
  readonly client: Int32Array;
  counter: number;
  dueSec: number;
}

/** The clients of a server that have agreed to be asked, by lease. */
export class ReconfigurePeers {
  readonly #intervalSec: number;
  readonly #random: () => number;
  readonly #peers = new Map<number, ReconfigurePeer>();

  constructor(intervalSec: number, random: () => number) {
    this.#intervalSec = intervalSec;
    this.#random = random;
  }

  /** The key of a client, which is asked to renew after the interval. */
  add(lease: number, peer: Pick<ReconfigurePeer, 'clientId' | 'route' | 'own' | 'client'>, nowSec: number): Uint8Array {
    const { key = this.#newKey(), counter = 0 } = this.#peers.get(lease) ?? {};
    this.#peers.set(lease, { ...peer, key, counter, dueSec: nowSec + this.#intervalSec });
    return key;
  }

  remove(lease: number): void {
    this.#peers.delete(lease);
  }

  /** Clients whose time has come. */
  takeDue(nowSec: number): ReconfigurePeer[] {
    const due: ReconfigurePeer[] = [];
    for (const peer of this.#peers.values()) {
      if (nowSec < peer.dueSec) continue;
      peer.dueSec = nowSec + this.#intervalSec;
      peer.counter++;
      due.push(peer);
    }
    return due;
  }

  #newKey(): Uint8Array {
    return Uint8Array.from({ length: keyBytes }, () => Math.floor(this.#random() * 256));
  }
}
