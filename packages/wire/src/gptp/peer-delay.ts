/** Requests without an answer before the neighbour counts as one that cannot keep time. */
const maxLost = 9;
/** Share of a new measurement in the mean. */
const weight = 0.25;

/** The delay of a link, measured by requests to the neighbour (IEEE 802.1AS, 11.2.19). Times are nanoseconds. */
export class PeerDelay {
  /** Mean delay; undefined before the first measurement. */
  meanNs: number | undefined;
  /** How much faster the clock of the neighbour runs, in parts per million. */
  ratePpm = 0;
  sequence = 0;
  /** Requests without an answer since the last one that had one. */
  lost = 0;
  #isOpen = false;
  #sentNs = 0n;
  #receivedNs = 0n;
  #peerReceivedNs = 0n;
  #hasResponse = false;
  #last: { own: bigint; peer: bigint } | undefined;

  /** A request is sent now. Returns false if the one before had no answer. */
  request(sentNs: bigint): boolean {
    const wasAnswered = !this.#isOpen;
    if (!wasAnswered) this.lost++;
    if (this.lost > maxLost) this.meanNs = undefined;
    this.sequence = (this.sequence + 1) & 0xffff;
    this.#sentNs = sentNs;
    this.#isOpen = true;
    this.#hasResponse = false;
    return wasAnswered;
  }

  response(sequence: number, peerReceivedNs: bigint, receivedNs: bigint): void {
    if (!this.#isOpen || sequence !== this.sequence) return;
    this.#hasResponse = true;
    this.#peerReceivedNs = peerReceivedNs;
    this.#receivedNs = receivedNs;
  }

  /** The neighbour says when it has sent its response. True: there is a new measurement. */
  followUp(sequence: number, peerSentNs: bigint): boolean {
    if (!this.#isOpen || !this.#hasResponse || sequence !== this.sequence) return false;
    this.#isOpen = false;
    this.lost = 0;
    const roundNs = Number(this.#receivedNs - this.#sentNs);
    const insideNs = Number(peerSentNs - this.#peerReceivedNs);
    const delayNs = Math.max((roundNs - insideNs) / 2, 0);
    this.meanNs = this.meanNs === undefined ? delayNs : this.meanNs + (delayNs - this.meanNs) * weight;
    const last = this.#last;
    if (last !== undefined) {
      const ownNs = Number(this.#receivedNs - last.own);
      if (ownNs > 0) this.ratePpm = (Number(peerSentNs - last.peer) / ownNs - 1) * 1e6;
    }
    this.#last = { own: this.#receivedNs, peer: peerSentNs };
    return true;
  }
}
