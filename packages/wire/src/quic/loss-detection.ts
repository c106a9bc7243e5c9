import { readVarint, varintLengthAt } from './varint.ts';

const packetThreshold = 3;
const timeThreshold = 9 / 8;
/** Acknowledgement delays are in units of this many microseconds unless the peer says otherwise. */
const delayUnit = 8;
const maxTracked = 20_000;

/** Numbers of a frame, one after the other; a cut frame has no more. */
const numbersIn = (bytes: Uint8Array): number[] => {
  const numbers: number[] = [];
  for (let at = 1; at < bytes.length && at + varintLengthAt(bytes[at] as number) <= bytes.length; ) {
    numbers.push(readVarint(bytes, at));
    at += varintLengthAt(bytes[at] as number);
  }
  return numbers;
};

/** Loss and round-trip time of a QUIC connection, from its packets and acknowledgements (RFC 9002). Times in ms. */
export class AckTracker {
  /** Packets on their way and when they were sent, in the order of their numbers. */
  readonly #sent = new Map<number, number>();
  #largest = -1;
  #smoothed: number | undefined;
  #minimum = Number.POSITIVE_INFINITY;
  #latest = 0;

  sent(number: number, now: number): void {
    this.#sent.set(number, now);
    if (this.#sent.size > maxTracked) this.#sent.delete(this.#sent.keys().next().value as number);
  }

  /** Reads an ACK frame. Returns the packets that it shows to be lost, and the smoothed time if it gave a sample. */
  acknowledge(frame: Uint8Array, now: number): { lost: number; smoothedMs: number | undefined } {
    const [largest = -1, delay = 0, count = 0, first = 0, ...ranges] = numbersIn(frame);
    const sentAt = this.#sent.get(largest);
    const isNew = largest > this.#largest && sentAt !== undefined;
    if (isNew) {
      this.#sample(now - sentAt, (delay * delayUnit) / 1000);
      this.#largest = largest;
    }
    this.#remove(largest - first, largest);
    let smallest = largest - first;
    for (let i = 0; i < Math.min(count, ranges.length / 2); i++) {
      const end = smallest - (ranges[2 * i] as number) - 2;
      smallest = end - (ranges[2 * i + 1] ?? 0);
      this.#remove(smallest, end);
    }
    return { lost: this.#detectLoss(now), smoothedMs: isNew ? this.#smoothed : undefined };
  }

  /** A peer may name packets that were never sent, also with numbers that are too large to be counted up. */
  #remove(from: number, last: number): void {
    const first = Math.max(from, 0);
    if (last < first || !Number.isSafeInteger(last)) return;
    if (last - first > this.#sent.size) {
      for (const number of this.#sent.keys()) if (number >= first && number <= last) this.#sent.delete(number);
      return;
    }
    for (let number = first; number <= last; number++) this.#sent.delete(number);
  }

  #sample(latest: number, delay: number): void {
    this.#latest = latest;
    this.#minimum = Math.min(this.#minimum, latest);
    const adjusted = latest >= this.#minimum + delay ? latest - delay : latest;
    this.#smoothed = this.#smoothed === undefined ? latest : (7 / 8) * this.#smoothed + adjusted / 8;
  }

  #detectLoss(now: number): number {
    const lateMs = timeThreshold * Math.max(this.#latest, this.#smoothed ?? 0, 1);
    let lost = 0;
    for (const [number, sentAt] of this.#sent) {
      if (number > this.#largest) break;
      if (number > this.#largest - packetThreshold && now - sentAt < lateMs) continue;
      this.#sent.delete(number);
      lost++;
    }
    return lost;
  }
}
