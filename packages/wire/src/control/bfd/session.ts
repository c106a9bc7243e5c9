import { type BfdPacket, bfdDiagnostic, bfdState, writeBfd } from './packet.ts';

export interface BfdOptions {
  readonly discriminator: number;
  /** That of the other end, where it is known beforehand. */
  readonly remoteDiscriminator?: number;
  readonly txMs: number;
  readonly rxMs: number;
  readonly multiplier: number;
  /** Sends nothing before the neighbour does. */
  readonly isPassive: boolean;
  /** Time between echo packets, which the neighbour sends back; 0: none. */
  readonly echoMs?: number;
  /** Asks the neighbour to be silent; it is polled instead. */
  readonly isDemand?: boolean;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

export interface BfdEvents {
  send(bytes: Uint8Array): void;
  /** An echo packet for the neighbour to send back. */
  sendEcho?(bytes: Uint8Array): void;
  /** `silentMs`: how long the neighbour had been silent when the session went down by its absence. */
  onChange(isUp: boolean, reason: string, silentMs: number): void;
}

/** Packets before the session is up are sent at most once a second (RFC 5880, section 6.8.3). */
const slowMs = 1000;
/** A silent neighbour is polled this often. */
const pollMs = 1000;
const echoBytes = 24;
const never = Number.POSITIVE_INFINITY;
const stateNames = ['adminDown', 'down', 'init', 'up'] as const;

/** One session in asynchronous or demand mode, with echoes or without (RFC 5880). Times are milliseconds of the clock of the caller. */
export class BfdSession {
  state: number = bfdState.down;
  upAt = 0;
  lastError = '';
  readonly counters = { tx: 0, rx: 0, flaps: 0, echoes: 0, echoesBack: 0 };
  readonly #options: BfdOptions;
  readonly #events: BfdEvents;
  #diagnostic: number = bfdDiagnostic.none;
  #remoteState: number = bfdState.down;
  #remoteDiscriminator = 0;
  #remoteRxMs = 0;
  #remoteTxMs = 0;
  #remoteMultiplier = 0;
  #remoteEchoMs = 0;
  #isRemoteDemand = false;
  #txMs = slowMs;
  #isPolling = false;
  #nextAt = never;
  #expiresAt = never;
  #heardAt = 0;
  #pollAt = never;
  #echoAt = never;
  #echoExpiresAt = never;

  constructor(options: BfdOptions, events: BfdEvents) {
    this.#options = options;
    this.#events = events;
    this.#remoteDiscriminator = options.remoteDiscriminator ?? 0;
  }

  get stateName(): string {
    return stateNames[this.state] as string;
  }

  get isUp(): boolean {
    return this.state === bfdState.up;
  }

  start(now: number): void {
    this.state = bfdState.down;
    this.#diagnostic = bfdDiagnostic.none;
    this.#txMs = slowMs;
    this.#nextAt = this.#options.isPassive ? never : now;
    this.#expiresAt = never;
  }

  /** Takes the session down on purpose; the neighbour is informed. */
  stop(): void {
    const wasUp = this.isUp;
    this.state = bfdState.adminDown;
    this.#diagnostic = bfdDiagnostic.adminDown;
    this.#expiresAt = never;
    this.#nextAt = never;
    this.#send(false);
    if (wasUp) this.#report(false, 'administratively down', 0);
  }

  receive(packet: BfdPacket, now: number): void {
    const { discriminator } = this.#options;
    if (packet.yourDiscriminator !== 0 && packet.yourDiscriminator !== discriminator) return;
    this.counters.rx++;
    this.#remoteDiscriminator = packet.myDiscriminator;
    this.#remoteState = packet.state;
    this.#remoteRxMs = packet.requiredRxUs / 1000;
    this.#remoteTxMs = packet.desiredTxUs / 1000;
    this.#remoteMultiplier = packet.multiplier;
    this.#remoteEchoMs = packet.requiredEchoUs / 1000;
    this.#isRemoteDemand = packet.isDemand;
    this.#heardAt = now;
    if (packet.isFinal) this.#endPoll(now);
    if (this.state === bfdState.adminDown) return;
    this.#follow(packet.state, now);
    if (!this.#isQuietWanted) this.#expiresAt = this.state === bfdState.down ? never : now + this.detectMs;
    else if (!this.#isPolling) this.#expiresAt = never;
    if (this.#nextAt === never) this.#nextAt = now;
    if (packet.isPoll) this.#send(true);
  }

  /** Silence after which the neighbour is lost. */
  get detectMs(): number {
    return this.#remoteMultiplier * Math.max(this.#options.rxMs, this.#remoteTxMs);
  }

  advance(now: number): void {
    if (now >= this.#expiresAt) {
      this.#expiresAt = never;
      this.#remoteDiscriminator = this.#options.remoteDiscriminator ?? 0;
      this.#goDown(bfdDiagnostic.timeExpired, 'control detection time expired', now);
    }
    if (this.isUp) this.#advanceUp(now);
    if (now < this.#nextAt) return;
    // A neighbour in demand mode hears nothing but polls and answers (RFC 5880, section 6.6).
    const isQuiet = this.#isRemoteDemand && this.isUp && this.#remoteState === bfdState.up && !this.#isPolling;
    if (!isQuiet) this.#send(false);
    this.#schedule(now);
  }

  /** An echo packet has come back. */
  receiveEcho(bytes: Uint8Array, now: number): void {
    if (bytes.length < echoBytes || !this.isUp) return;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (view.getUint32(0) !== this.#options.discriminator) return;
    this.counters.echoesBack++;
    this.#echoExpiresAt = now + this.#options.multiplier * this.#echoInterval;
  }

  /** Whether the neighbour is asked for silence; both ends must be up. */
  get #isQuietWanted(): boolean {
    return this.#options.isDemand === true && this.isUp && this.#remoteState === bfdState.up;
  }

  get #echoInterval(): number {
    return Math.max(this.#options.echoMs ?? 0, this.#remoteEchoMs);
  }

  #endPoll(now: number): void {
    this.#isPolling = false;
    this.#pollAt = now + pollMs;
  }

  #advanceUp(now: number): void {
    if (this.#isQuietWanted && !this.#isPolling && now >= this.#pollAt) {
      this.#isPolling = true;
      this.#nextAt = now;
      // Without an answer the neighbour is lost (RFC 5880, section 6.8.4).
      this.#expiresAt = now + this.#options.multiplier * Math.max(this.#txMs, this.#remoteRxMs);
    }
    const { echoMs = 0, multiplier } = this.#options;
    if (echoMs === 0 || this.#remoteEchoMs === 0 || now < this.#echoAt) return;
    if (this.#echoExpiresAt === never) this.#echoExpiresAt = now + multiplier * this.#echoInterval;
    if (now >= this.#echoExpiresAt) {
      this.#goDown(bfdDiagnostic.echoFailed, 'echo packets do not come back', now);
      return;
    }
    this.#echoAt = now + this.#echoInterval;
    this.#sendEcho();
  }

  /** What is in the packet matters to its sender alone. */
  #sendEcho(): void {
    const bytes = new Uint8Array(echoBytes);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, this.#options.discriminator);
    view.setUint32(4, ++this.counters.echoes >>> 0);
    this.#events.sendEcho?.(bytes);
  }

  #follow(remote: number, now: number): void {
    const { adminDown, down, init, up } = bfdState;
    if (remote === adminDown) {
      if (this.state !== down) this.#goDown(bfdDiagnostic.neighbourDown, 'neighbour is administratively down', now);
    } else if (this.state === down) {
      if (remote === down) this.#become(init, now);
      else if (remote === init) this.#become(up, now);
    } else if (this.state === init) {
      if (remote === init || remote === up) this.#become(up, now);
    } else if (remote === down) this.#goDown(bfdDiagnostic.neighbourDown, 'neighbour signalled session down', now);
  }

  #become(state: number, now: number): void {
    this.state = state;
    if (state === bfdState.up) {
      this.#diagnostic = bfdDiagnostic.none;
      this.upAt = now;
      this.#echoAt = now;
      this.#echoExpiresAt = never;
      // Timers change with a poll sequence (RFC 5880, section 6.8.3).
      this.#txMs = this.#options.txMs;
      this.#isPolling = true;
      this.#report(true, '', 0);
    }
    this.#send(false);
    this.#schedule(now);
  }

  #goDown(diagnostic: number, reason: string, now: number): void {
    const wasUp = this.isUp;
    this.state = bfdState.down;
    this.#diagnostic = diagnostic;
    this.#txMs = slowMs;
    this.#isPolling = false;
    if (wasUp) this.#report(false, reason, now - this.#heardAt);
    this.#send(false);
    this.#schedule(now);
  }

  #report(isUp: boolean, reason: string, silentMs: number): void {
    if (!isUp) {
      this.counters.flaps++;
      this.lastError = reason;
      this.upAt = 0;
    }
    this.#events.onChange(isUp, reason, silentMs);
  }

  /** Intervals are shortened at random by up to a quarter, so that sessions do not send in step. */
  #schedule(now: number): void {
    const interval = Math.max(this.#txMs, this.#remoteRxMs);
    const widest = this.#options.multiplier === 1 ? 0.9 : 1;
    this.#nextAt = now + interval * (0.75 + this.#options.random() * (widest - 0.75));
  }

  #send(isFinal: boolean): void {
    const { discriminator, multiplier, rxMs } = this.#options;
    if (this.#remoteRxMs === 0 && this.#remoteState === bfdState.up && this.counters.rx > 0) return;
    this.counters.tx++;
    this.#events.send(
      writeBfd({
        diagnostic: this.#diagnostic,
        state: this.state,
        isPoll: this.#isPolling && !isFinal,
        isFinal,
        isDemand: this.#isQuietWanted,
        multiplier,
        myDiscriminator: discriminator,
        yourDiscriminator: this.#remoteDiscriminator,
        desiredTxUs: Math.round(this.#txMs * 1000),
        requiredRxUs: Math.round(rxMs * 1000),
        requiredEchoUs: Math.round((this.#options.echoMs ?? 0) * 1000),
      }),
    );
  }
}
