import { parseBfd } from '../bfd/packet.ts';
import { BfdSession } from '../bfd/session.ts';
import { type TpEnd, type TpMessage, tpChannel, writeTpBfd, writeTpLock } from './message.ts';

export interface TpPathOptions {
  readonly labelOut: number;
  readonly source: TpEnd;
  readonly destination: TpEnd;
  readonly discriminator: number;
  readonly intervalMs: number;
  readonly multiplier: number;
  /** Tell the other end that the path is out of service. */
  readonly sendsLock: boolean;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

export interface TpPathEvents {
  /** A message behind its labels. */
  send(bytes: Uint8Array): void;
  onChange(isUp: boolean, reason: string, silentMs: number): void;
}

/** Messages with the source are sent this often (RFC 6428, section 3.3), and so are those of a lock. */
const connectivityMs = 1000;
/** Silence after which a lock is over. */
const lockLifeMs = 3500;
const never = Number.POSITIVE_INFINITY;

/** One end of a label switched path of the transport profile. Times are milliseconds of the clock of the caller. */
export class TpPath {
  readonly session: BfdSession;
  readonly counters = { tx: 0, rx: 0, misconnected: 0 };
  readonly #options: TpPathOptions;
  readonly #events: TpPathEvents;
  #connectivityAt = 0;
  #lockAt = never;
  #lockedUntil = 0;
  #now = 0;

  constructor(options: TpPathOptions, events: TpPathEvents) {
    const { discriminator, intervalMs, multiplier, random } = options;
    this.#options = options;
    this.#events = events;
    this.session = new BfdSession(
      { discriminator, txMs: intervalMs, rxMs: intervalMs, multiplier, isPassive: false, random },
      {
        send: (bytes) => this.#sendBfd(bytes),
        onChange: (isUp, reason, silentMs) => events.onChange(isUp, reason, silentMs),
      },
    );
  }

  /** `locked`: the other end has taken the path out of service. */
  get state(): string {
    return this.session.isUp || this.#now >= this.#lockedUntil ? this.session.stateName : 'locked';
  }

  start(now: number): void {
    this.#lockAt = never;
    this.session.start(now);
  }

  /** Takes the path out of service. */
  stop(now: number): void {
    this.session.stop();
    if (this.#options.sendsLock) this.#lockAt = now;
  }

  advance(now: number): void {
    this.#now = now;
    this.session.advance(now);
    if (now < this.#lockAt) return;
    this.#lockAt = now + connectivityMs;
    this.#send(writeTpLock(this.#options.labelOut, this.#options.source));
  }

  receive({ channel, bfd, source }: TpMessage, now: number): void {
    this.#now = now;
    if (source !== undefined && !this.#isExpected(source)) {
      // Another path ends here by mistake (RFC 6428, section 3.7.3).
      this.counters.misconnected++;
      this.session.lastError = 'messages of another path';
      return;
    }
    this.counters.rx++;
    if (channel === tpChannel.lock) {
      this.#lockedUntil = now + lockLifeMs;
      return;
    }
    const packet = parseBfd(bfd, 0, bfd.length);
    if (packet !== undefined) this.session.receive(packet, now);
  }

  #isExpected({ globalId, node, tunnel, lsp }: TpEnd): boolean {
    const wanted = this.#options.destination;
    return globalId === wanted.globalId && node === wanted.node && tunnel === wanted.tunnel && lsp === wanted.lsp;
  }

  #sendBfd(bytes: Uint8Array): void {
    const { labelOut, source } = this.#options;
    this.#send(writeTpBfd(labelOut, bytes, undefined));
    if (this.#now < this.#connectivityAt) return;
    this.#connectivityAt = this.#now + connectivityMs;
    this.#send(writeTpBfd(labelOut, bytes, source));
  }

  #send(bytes: Uint8Array): void {
    this.counters.tx++;
    this.#events.send(bytes);
  }
}
