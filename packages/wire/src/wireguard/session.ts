import type { Aead, WireGuardCrypto } from './crypto.ts';
import type { TransportKeys } from './handshake.ts';

const windowBits = 2048;
const wordBits = 32;

/** Seconds and messages after which keys are renewed, and after which they are not used any more (section 6.1). */
export const rekey = { afterMs: 120_000, rejectAfterMs: 180_000, afterMessages: 2 ** 52 } as const;

/** Keys of one handshake, with the numbers of packets sent and received. */
export class Session {
  readonly localIndex: number;
  readonly remoteIndex: number;
  readonly isInitiator: boolean;
  readonly createdMs: number;
  readonly #send: Aead;
  readonly #receive: Aead;
  readonly #seen = new Uint32Array(windowBits / wordBits);
  #nextCounter = 0;
  #highest = -1;

  constructor(
    crypto: WireGuardCrypto,
    keys: TransportKeys,
    facts: Pick<Session, 'localIndex' | 'remoteIndex' | 'isInitiator' | 'createdMs'>,
  ) {
    this.#send = crypto.createAead(keys.send);
    this.#receive = crypto.createAead(keys.receive);
    this.localIndex = facts.localIndex;
    this.remoteIndex = facts.remoteIndex;
    this.isInitiator = facts.isInitiator;
    this.createdMs = facts.createdMs;
  }

  get sentMessages(): number {
    return this.#nextCounter;
  }

  /** Encrypts [start, end) in place and returns the counter of the packet. The tag follows. */
  seal(bytes: Uint8Array, start: number, end: number): number {
    const counter = this.#nextCounter++;
    this.#send.seal(counter, bytes, start, end);
    return counter;
  }

  /** Decrypts [start, end) in place; the plain text ends 16 bytes earlier. False: changed, or received before. */
  open(counter: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (counter <= this.#highest - windowBits || this.#isSeen(counter)) return false;
    if (!this.#receive.open(counter, bytes, start, end)) return false;
    this.#remember(counter);
    return true;
  }

  #isSeen(counter: number): boolean {
    if (counter > this.#highest) return false;
    const bit = counter % windowBits;
    return (((this.#seen[Math.floor(bit / wordBits)] as number) >>> (bit % wordBits)) & 1) === 1;
  }

  #remember(counter: number): void {
    const from = Math.max(this.#highest + 1, counter - windowBits + 1);
    for (let passed = from; passed < counter; passed++) this.#mark(passed, false);
    this.#mark(counter, true);
    this.#highest = Math.max(this.#highest, counter);
  }

  #mark(counter: number, isSeen: boolean): void {
    const bit = counter % windowBits;
    const at = Math.floor(bit / wordBits);
    const mask = 1 << (bit % wordBits);
    this.#seen[at] = isSeen ? (this.#seen[at] as number) | mask : (this.#seen[at] as number) & ~mask;
  }
}
