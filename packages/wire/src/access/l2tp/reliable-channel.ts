import { controlHeaderBytes } from './header.ts';

/** A window that a peer does not name (RFC 2661, 4.4.3). */
const defaultWindow = 4;
/** Longest wait between two transmissions, unless the first wait is longer. */
const maxWaitMs = 16_000;
/** More than this is neither kept under way nor kept early. */
const maxWindow = 1024;
const half = 32_768;
const nsAt = 8;
const nrAt = 10;

export interface ChannelOptions {
  /** Messages that may arrive before their acknowledgement leaves. */
  readonly receiveWindow: number;
  /** Wait before a message is sent again; it doubles each time. */
  readonly timeoutMs: number;
  /** Times that a message is sent. */
  readonly attempts: number;
}

export interface ChannelHost {
  /** Sends a control message; without one, an acknowledgement with these numbers. */
  transmit(message: Uint8Array | undefined, ns: number, nr: number): void;
  setTimer(delayMs: number): void;
  clearTimer(): void;
  /** The peer does not acknowledge. */
  onDead(): void;
  /** All that was sent is acknowledged. */
  onDrained(): void;
}

const waitOf = ({ timeoutMs }: ChannelOptions, sent: number): number =>
  Math.min(timeoutMs * 2 ** Math.min(sent, 30), Math.max(maxWaitMs, timeoutMs));

/** How long a message is sent again before the peer counts as gone. */
export const cycleMs = (options: ChannelOptions): number => {
  let sum = 0;
  for (let sent = 0; sent < options.attempts; sent++) sum += waitOf(options, sent);
  return sum;
};

interface QueuedMessage {
  readonly message: Uint8Array;
  readonly onSent: (() => void) | undefined;
}

/** Distance of two numbers modulo 65536, from -32768 to 32767. */
const distance = (from: number, to: number): number => ((to - from + half) & 0xffff) - half;

/**
 * Reliable delivery of the control messages of a tunnel (RFC 2661, 5.8): numbered, acknowledged, repeated with growing
 * waits, within the window of the peer and a congestion window (appendix A).
 */
export class ReliableChannel {
  readonly counters = { sent: 0, repeated: 0, acknowledgements: 0, duplicates: 0, early: 0, discarded: 0 };
  readonly #options: ChannelOptions;
  readonly #host: ChannelHost;
  /** Messages without an acknowledgement, then those that wait for room in the window. */
  #queue: QueuedMessage[] = [];
  /** Number of the first of the queue. */
  #first = 0;
  /** How many of the queue are under way. */
  #inFlight = 0;
  /** How many of the queue were sent at some time. */
  #sent = 0;
  /** Transmissions of the first. */
  #attempts = 0;
  #expected = 0;
  #isOwed = false;
  #isOver = false;
  #peerWindow = defaultWindow;
  #congestionWindow = 1;
  #threshold = defaultWindow;
  /** Messages that came before one that is missing, by number. */
  readonly #early = new Map<number, Uint8Array>();

  constructor(host: ChannelHost, options: ChannelOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** Messages that are not acknowledged, sent or not. */
  get pending(): number {
    return this.#queue.length;
  }

  get congestionWindow(): number {
    return Math.floor(this.#congestionWindow);
  }

  setPeerWindow(window: number): void {
    this.#peerWindow = Math.min(window, maxWindow);
    this.#threshold = this.#peerWindow;
  }

  /** `onSent` is called when the message leaves for the first time. */
  send(message: Uint8Array, onSent?: () => void): void {
    if (this.#isOver) return;
    this.#queue.push({ message, onSent });
    this.#fill();
  }

  /** Forgets messages that were never sent. */
  dropUnsent(): void {
    this.#queue.length = this.#sent;
  }

  /** Nothing is sent any more but acknowledgements. */
  close(): void {
    this.#isOver = true;
    this.#first = (this.#first + this.#sent) & 0xffff;
    this.#queue = [];
    this.#early.clear();
    this.#inFlight = 0;
    this.#sent = 0;
    this.#host.clearTimer();
  }

  /**
   * A message with its numbers; the caller reports an acknowledgement without AVPs as such. Delivers what is now in order,
   * then acknowledges it unless an answer did. A copy of the message is kept if it is early.
   */
  receive(
    numbers: { readonly ns: number; readonly nr: number },
    message: Uint8Array | undefined,
    deliver: (message: Uint8Array) => void,
  ): void {
    this.#onAcknowledged(numbers.nr);
    if (message === undefined) return;
    const ahead = distance(this.#expected, numbers.ns);
    this.#isOwed = true;
    if (ahead < 0) this.counters.duplicates++;
    else if (ahead > 0) this.#keep(ahead, numbers.ns, message);
    else this.#deliver(message, deliver);
    if (this.#isOwed) this.acknowledge();
  }

  /** Sends an acknowledgement of its own. */
  acknowledge(): void {
    this.#isOwed = false;
    this.counters.acknowledgements++;
    this.#host.transmit(undefined, (this.#first + this.#sent) & 0xffff, this.#expected);
  }

  onTimer(): void {
    if (this.#inFlight === 0 || this.#isOver) return;
    if (this.#attempts >= this.#options.attempts) {
      this.close();
      this.#host.onDead();
      return;
    }
    this.#threshold = Math.max(Math.floor(this.#congestionWindow / 2), 1);
    this.#congestionWindow = 1;
    this.#inFlight = 0;
    this.#fill();
  }

  #deliver(message: Uint8Array, deliver: (message: Uint8Array) => void): void {
    for (let next: Uint8Array | undefined = message; next !== undefined; ) {
      this.#expected = (this.#expected + 1) & 0xffff;
      deliver(next);
      next = this.#early.get(this.#expected);
      this.#early.delete(this.#expected);
    }
  }

  #keep(ahead: number, ns: number, message: Uint8Array): void {
    if (ahead >= Math.min(this.#options.receiveWindow, maxWindow)) this.counters.discarded++;
    else {
      this.counters.early++;
      this.#early.set(ns, new Uint8Array(message));
    }
  }

  #onAcknowledged(nr: number): void {
    const count = distance(this.#first, nr);
    if (count <= 0 || count > this.#sent) return;
    this.#queue.splice(0, count);
    this.#first = nr;
    this.#sent -= count;
    this.#inFlight = Math.max(this.#inFlight - count, 0);
    this.#attempts = this.#inFlight > 0 ? 1 : 0;
    const isSlowStart = this.#congestionWindow < this.#threshold;
    const grown = this.#congestionWindow + (isSlowStart ? 1 : 1 / this.#congestionWindow);
    this.#congestionWindow = Math.min(grown, this.#peerWindow);
    if (this.#inFlight > 0) this.#host.setTimer(waitOf(this.#options, 0));
    else this.#host.clearTimer();
    this.#fill();
    if (this.#queue.length === 0) this.#host.onDrained();
  }

  #fill(): void {
    // What a message causes when it leaves may change the queue.
    const window = Math.min(this.congestionWindow, this.#peerWindow);
    while (this.#inFlight < Math.min(window, this.#queue.length) && !this.#isOver) {
      const index = this.#inFlight++;
      if (index === 0) {
        this.#host.setTimer(waitOf(this.#options, this.#attempts));
        this.#attempts++;
      }
      const isNew = index >= this.#sent;
      const { message, onSent } = this.#queue[index] as QueuedMessage;
      if (isNew) this.#sent = this.#inFlight;
      else this.counters.repeated++;
      this.#transmit(message, (this.#first + index) & 0xffff);
      if (isNew) onSent?.();
    }
  }

  #transmit(message: Uint8Array, ns: number): void {
    const view = new DataView(message.buffer, message.byteOffset, controlHeaderBytes);
    view.setUint16(nsAt, ns);
    view.setUint16(nrAt, this.#expected);
    this.#isOwed = false;
    this.counters.sent++;
    this.#host.transmit(message, ns, this.#expected);
  }
}
