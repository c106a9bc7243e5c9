import { isSamePort, type LacpInfo, type LacpMessage, lacpState, unknownPartner } from './lacp-message.ts';

const shortMs = 1000;
const longMs = 30_000;
/** Silence of so many periods ends what was known of the partner. */
const timeoutPeriods = 3;
/** A member waits for others before it joins the group. */
const aggregateWaitMs = 2000;
const maxSentPerSecond = 3;

export type ReceiveState = 'disabled' | 'expired' | 'defaulted' | 'current';
export type MuxState = 'detached' | 'waiting' | 'attached' | 'collecting' | 'distributing';

export interface LacpOptions {
  readonly mode: 'active' | 'passive' | 'static';
  readonly isShortTimeout: boolean;
  readonly systemPriority: number;
  readonly system: Uint8Array;
  readonly portPriority: number;
  readonly key: number;
}

/** Bits of the partner's state that the actor shows back. */
const shownBits = lacpState.activity | lacpState.shortTimeout | lacpState.aggregation | lacpState.synchronization;

/** Bits of the partner's state that decide how often this end speaks. */
const pacingBits = lacpState.activity | lacpState.shortTimeout;

/**
 * One member of a link aggregation group: receive, periodic, mux (collecting before distributing) and transmit machines
 * of IEEE 802.1AX. Which members may join is decided by the group (`isSelected`).
 */
export class LacpMember {
  partner: LacpInfo = unknownPartner;
  receiveState: ReceiveState = 'disabled';
  mux: MuxState = 'detached';
  isSelected = false;
  readonly counters: { sent: number; received: number; invalid: number; timeouts: number } = {
    sent: 0,
    received: 0,
    invalid: 0,
    timeouts: 0,
  };
  readonly #options: LacpOptions;
  readonly #port: number;
  readonly #send: (message: LacpMessage) => boolean;
  #isLinkUp = false;
  #nowMs = 0;
  #expiresMs = Number.POSITIVE_INFINITY;
  #periodicMs = Number.POSITIVE_INFINITY;
  #waitEndsMs = 0;
  #needsToSend = false;
  #budget = maxSentPerSecond;

  /** `send` returns false if there is no room for the message now. */
  constructor(options: LacpOptions, port: number, send: (message: LacpMessage) => boolean) {
    this.#options = options;
    this.#port = port;
    this.#send = send;
  }

  get isLinkUp(): boolean {
    return this.#isLinkUp;
  }

  get isStatic(): boolean {
    return this.#options.mode === 'static';
  }

  /** True if frames are taken. */
  get isCollecting(): boolean {
    return this.mux === 'collecting' || this.mux === 'distributing';
  }

  /** True if the partner is known and lets this link be aggregated. */
  get isAgreeable(): boolean {
    if (!this.#isLinkUp) return false;
    if (this.isStatic) return true;
    return (this.partner.state & lacpState.aggregation) !== 0;
  }

  get actor(): LacpInfo {
    const { mode, isShortTimeout, systemPriority, system, portPriority, key } = this.#options;
    let state: number = lacpState.aggregation;
    if (mode === 'active') state |= lacpState.activity;
    if (isShortTimeout) state |= lacpState.shortTimeout;
    if (this.mux !== 'detached' && this.mux !== 'waiting') state |= lacpState.synchronization;
    if (this.isCollecting) state |= lacpState.collecting;
    if (this.mux === 'distributing') state |= lacpState.distributing;
    if (this.receiveState === 'defaulted') state |= lacpState.defaulted;
    if (this.receiveState === 'expired') state |= lacpState.expired;
    return { systemPriority, system, key, portPriority, port: this.#port, state };
  }

  setLink(isUp: boolean): void {
    if (isUp === this.#isLinkUp) return;
    this.#isLinkUp = isUp;
    this.#setMux('detached');
    this.partner = unknownPartner;
    if (isUp && !this.isStatic) this.#expire();
    else this.#disable();
  }

  receive(message: LacpMessage): void {
    if (!this.#isLinkUp || this.isStatic) return;
    this.counters.received++;
    const { actor: peer, partner: view } = message;
    const before = this.partner;
    this.partner = { ...peer, state: this.#partnerState(peer, view) };
    this.receiveState = 'current';
    this.#expiresMs = this.#nowMs + timeoutPeriods * (this.#options.isShortTimeout ? shortMs : longMs);
    // The other end has an old view of this one: it hears of it at once.
    if (!isSamePort(view, this.actor) || ((view.state ^ this.actor.state) & shownBits) !== 0) this.#needsToSend = true;
    const isOther = !isSamePort(before, peer);
    if (isOther) this.isSelected = false;
    if (isOther || ((before.state ^ peer.state) & pacingBits) !== 0) this.#schedulePeriodic();
  }

  /** Milliseconds since the start. */
  advance(nowMs: number): void {
    this.#budget = Math.min(maxSentPerSecond, this.#budget + ((nowMs - this.#nowMs) * maxSentPerSecond) / shortMs);
    this.#nowMs = nowMs;
    if (nowMs >= this.#expiresMs) this.#onTimeout();
    this.#advanceMux();
    if (nowMs >= this.#periodicMs) {
      this.#needsToSend = true;
      this.#schedulePeriodic();
    }
    this.#transmit();
  }

  /** The partner is in synchronization if it knows this end, or does not aggregate. */
  #partnerState(peer: LacpInfo, view: LacpInfo): number {
    const knowsUs = isSamePort(view, this.actor) && ((view.state ^ this.actor.state) & lacpState.aggregation) === 0;
    const isHeard = (peer.state & lacpState.activity) !== 0 || this.#options.mode === 'active';
    return knowsUs && isHeard ? peer.state : peer.state & ~lacpState.synchronization;
  }

  #disable(): void {
    this.receiveState = 'disabled';
    this.#expiresMs = Number.POSITIVE_INFINITY;
    this.#periodicMs = Number.POSITIVE_INFINITY;
    this.#needsToSend = false;
    this.isSelected = false;
  }

  /** The partner has fallen silent, or is not known yet: it is asked quickly for a short time. */
  #expire(): void {
    this.receiveState = 'expired';
    const state = (this.partner.state & ~lacpState.synchronization) | lacpState.shortTimeout;
    this.partner = { ...this.partner, state };
    this.#expiresMs = this.#nowMs + timeoutPeriods * shortMs;
    this.#needsToSend = this.#isSpeaking;
    this.#schedulePeriodic();
  }

  #onTimeout(): void {
    if (this.receiveState === 'current') {
      this.counters.timeouts++;
      this.#expire();
      return;
    }
    this.receiveState = 'defaulted';
    this.partner = unknownPartner;
    this.isSelected = false;
    this.#expiresMs = Number.POSITIVE_INFINITY;
    this.#schedulePeriodic();
  }

  get #isSpeaking(): boolean {
    return this.#options.mode === 'active' || (this.partner.state & lacpState.activity) !== 0;
  }

  #schedulePeriodic(): void {
    const isFast = (this.partner.state & lacpState.shortTimeout) !== 0;
    this.#periodicMs = this.#isSpeaking ? this.#nowMs + (isFast ? shortMs : longMs) : Number.POSITIVE_INFINITY;
  }

  #advanceMux(): void {
    const { partner } = this;
    const has = (bit: number) => this.isStatic || (partner.state & bit) !== 0;
    if (!this.isSelected) {
      this.#setMux('detached');
      return;
    }
    if (this.mux === 'detached') {
      this.#waitEndsMs = this.#nowMs + (this.isStatic ? 0 : aggregateWaitMs);
      this.#setMux('waiting');
    }
    if (this.mux === 'waiting' && this.#nowMs >= this.#waitEndsMs) this.#setMux('attached');
    if (this.mux === 'waiting' || this.mux === 'detached') return;
    const isInSync = has(lacpState.synchronization);
    if (!isInSync) this.#setMux('attached');
    else if (!has(lacpState.collecting)) this.#setMux('collecting');
    else this.#setMux('distributing');
  }

  #setMux(next: MuxState): void {
    if (this.mux === next) return;
    this.mux = next;
    if (!this.isStatic) this.#needsToSend = true;
  }

  #transmit(): void {
    if (!this.#needsToSend || !this.#isLinkUp || this.#budget < 1 || !this.#isSpeaking) return;
    if (!this.#send({ actor: this.actor, partner: this.partner })) return;
    this.#needsToSend = false;
    this.#budget--;
    this.counters.sent++;
  }
}
