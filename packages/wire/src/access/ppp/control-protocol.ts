import { copyOf, type Memory } from '../../bytes/memory.ts';
import type { SessionTimers, TimerKind } from '../timers.ts';
import { OptionList, type PppLink, PppPacket, pppCode, pppHeaderBytes, writePppHeader } from './packet.ts';

export const controlState = { closed: 0, requestSent: 1, ackReceived: 2, ackSent: 3, opened: 4, closing: 5 } as const;

/** The answer to one option of a request. */
export const verdict = { ack: 0, nak: 1, reject: 2 } as const;
export type Verdict = (typeof verdict)[keyof typeof verdict];

/** What the options of a control protocol mean, and what its states cause. */
export interface ControlPolicy {
  /** Adds the options of a request. */
  request(session: number, options: OptionList): void;
  /** Judges the option [at, at + length) of the peer; the value wanted instead goes to `wanted`. */
  judge(session: number, memory: Memory, at: number, length: number, wanted: OptionList): Verdict;
  /** Adds options to `wanted` that the peer should have asked for. `seen`: bit n for option n below 32. */
  judgeMissing?(session: number, seen: number, wanted: OptionList): void;
  /** The peer wants another value than ours. */
  onNak(session: number, memory: Memory, at: number, length: number): void;
  onReject(session: number, type: number): void;
  onOpened(session: number): void;
  /** It was open and is not any more; a new negotiation has begun. */
  onReopened(session: number): void;
  /** `isPeer`: ended by the peer. */
  onClosed(session: number, isPeer: boolean): void;
  onFailed(session: number, reason: 'timeout' | 'options'): void;
  /** A code beyond the common seven; false: it is unknown. */
  onCode?(session: number, packet: PppPacket, memory: Memory): boolean;
}

export interface ControlOptions {
  readonly protocol: number;
  readonly capacity: number;
  readonly timeoutMs: number;
  /** Requests without an answer before it fails. */
  readonly retries: number;
  readonly timer: TimerKind;
}

const maxFailures = 5;
/** Times that a negotiation begins again before it is settled. */
const maxRounds = 30;
const maxTerminate = 2;
const maxPacket = 512;

/**
 * The automaton of LCP and the network control protocols (RFC 1661, section 4) for all sessions of a port. States
 * without a lower layer do not exist here: a session that is not open is closed.
 */
export class ControlProtocol {
  readonly counters = { sent: 0, received: 0, invalid: 0, timeouts: 0 };
  readonly state: Uint8Array;
  readonly #id: Uint8Array;
  readonly #left: Uint8Array;
  readonly #failures: Uint8Array;
  readonly #rounds: Uint8Array;
  /** The last request of the peer was refused. */
  readonly #isRefused: Uint8Array;
  readonly #options: ControlOptions;
  readonly #link: PppLink;
  readonly #timers: SessionTimers;
  readonly #policy: ControlPolicy;
  readonly #packet = new PppPacket();
  readonly #naks = new OptionList();
  readonly #rejects = new OptionList();
  #otherId = 0;

  constructor(link: PppLink, timers: SessionTimers, policy: ControlPolicy, options: ControlOptions) {
    const { capacity } = options;
    this.#link = link;
    this.#timers = timers;
    this.#policy = policy;
    this.#options = options;
    this.state = new Uint8Array(capacity);
    this.#id = new Uint8Array(capacity);
    this.#left = new Uint8Array(capacity);
    this.#failures = new Uint8Array(capacity);
    this.#rounds = new Uint8Array(capacity);
    this.#isRefused = new Uint8Array(capacity);
  }

  open(session: number): void {
    this.#failures[session] = 0;
    this.#rounds[session] = 0;
    this.#isRefused[session] = 0;
    this.#sendRequest(session, true);
    this.#enter(session, controlState.requestSent);
  }

  /** It is open by the work of another machine. */
  adopt(session: number): void {
    this.#failures[session] = 0;
    this.#rounds[session] = 0;
    this.#opened(session);
  }

  /** Ends it in order: `onClosed` follows. */
  close(session: number): void {
    const state = this.state[session] as number;
    if (state === controlState.closed || state === controlState.closing) return;
    this.#left[session] = maxTerminate;
    this.#enter(session, controlState.closing);
    this.#sendTerminate(session);
  }

  /** The lower layer is gone. */
  reset(session: number): void {
    this.#enter(session, controlState.closed);
    this.#timers.clear(session, this.#options.timer);
  }

  isOpen(session: number): boolean {
    return this.state[session] === controlState.opened;
  }

  /** The session works: a later negotiation has all its rounds. */
  settle(session: number): void {
    this.#rounds[session] = 0;
  }

  onTimer(session: number): void {
    const state = this.state[session] as number;
    if (state === controlState.closed || state === controlState.opened) return;
    this.counters.timeouts++;
    const left = this.#left[session] as number;
    if (left === 0) {
      this.reset(session);
      if (state === controlState.closing) this.#policy.onClosed(session, false);
      else this.#policy.onFailed(session, this.#isRefused[session] === 1 ? 'options' : 'timeout');
      return;
    }
    if (state === controlState.closing) this.#sendTerminate(session);
    else {
      if (state === controlState.ackReceived) this.#enter(session, controlState.requestSent);
      this.#sendRequest(session, false);
    }
  }

  receive(session: number, memory: Memory, start: number, end: number): void {
    const packet = this.#packet;
    if (!packet.parse(memory, start, end)) {
      this.counters.invalid++;
      return;
    }
    this.counters.received++;
    switch (packet.code) {
      case pppCode.configureRequest:
        this.#onRequest(session, memory);
        break;
      case pppCode.configureAck:
        this.#onAck(session);
        break;
      case pppCode.configureNak:
      case pppCode.configureReject:
        this.#onNak(session, memory);
        break;
      case pppCode.terminateRequest:
        this.#onTerminate(session);
        break;
      case pppCode.terminateAck:
        this.#onTerminateAck(session);
        break;
      case pppCode.codeReject:
        break;
      default:
        if (this.#policy.onCode?.(session, packet, memory) !== true)
          this.sendPacket(session, pppCode.codeReject, this.nextId(), copyOf(memory.bytes, start, packet.end));
    }
  }

  /** Identifier of a packet other than a request of the automaton: an echo or a reject. */
  nextId(): number {
    this.#otherId = (this.#otherId + 1) & 255;
    return this.#otherId;
  }

  sendPacket(session: number, code: number, id: number, body: Uint8Array): void {
    const kept = body.subarray(0, maxPacket);
    const at = this.#link.begin(session, pppHeaderBytes + kept.length);
    if (at < 0) return;
    const { memory } = this.#link;
    memory.bytes.set(kept, at + pppHeaderBytes);
    const end = at + pppHeaderBytes + kept.length;
    writePppHeader(memory, at, end, code, id);
    this.counters.sent++;
    this.#link.send(session, at, end, this.#options.protocol);
  }

  #enter(session: number, state: number): void {
    this.state[session] = state;
  }

  #sendRequest(session: number, isNew: boolean): void {
    const options = this.#naks;
    options.clear();
    this.#policy.request(session, options);
    if (isNew) {
      this.#left[session] = this.#options.retries;
      this.#id[session] = (this.#id[session] as number) + 1;
    }
    this.#left[session] = (this.#left[session] as number) - 1;
    this.#timers.set(session, this.#options.timer, this.#options.timeoutMs);
    const body = options.bytes.subarray(0, options.length);
    this.sendPacket(session, pppCode.configureRequest, this.#id[session] as number, body);
  }

  #sendTerminate(session: number): void {
    this.#left[session] = (this.#left[session] as number) - 1;
    this.#timers.set(session, this.#options.timer, this.#options.timeoutMs);
    this.#id[session] = (this.#id[session] as number) + 1;
    this.sendPacket(session, pppCode.terminateRequest, this.#id[session] as number, new Uint8Array(0));
  }

  #onRequest(session: number, memory: Memory): void {
    const state = this.state[session] as number;
    const { id, body, end } = this.#packet;
    if (state === controlState.closed) {
      this.sendPacket(session, pppCode.terminateAck, id, new Uint8Array(0));
      return;
    }
    if (state === controlState.closing) return;
    if (!this.#judge(session, memory)) {
      this.counters.invalid++;
      return;
    }
    const [naks, rejects] = [this.#naks, this.#rejects];
    const refused = rejects.length > 0 ? rejects : naks;
    const isAgreed = refused.length === 0;
    const refusal = rejects.length > 0 ? pppCode.configureReject : pppCode.configureNak;
    const answer = isAgreed ? copyOf(memory.bytes, body, end) : copyOf(refused.bytes, 0, refused.length);
    this.#isRefused[session] = isAgreed ? 0 : 1;
    if (state === controlState.opened) {
      if (this.#isEndless(session)) return;
      this.#policy.onReopened(session);
      this.#sendRequest(session, true);
    }
    this.sendPacket(session, isAgreed ? pppCode.configureAck : refusal, id, answer);
    this.#afterRequest(session, state, isAgreed);
  }

  #afterRequest(session: number, state: number, isAgreed: boolean): void {
    if (!isAgreed) {
      if (state === controlState.ackSent || state === controlState.opened)
        this.#enter(session, controlState.requestSent);
    } else if (state === controlState.ackReceived) this.#opened(session);
    else this.#enter(session, controlState.ackSent);
  }

  /** Fills the lists of options to refuse; false if the request is malformed. */
  #judge(session: number, memory: Memory): boolean {
    const { body, end } = this.#packet;
    const [naks, rejects] = [this.#naks, this.#rejects];
    naks.clear();
    rejects.clear();
    let seen = 0;
    for (let at = body; at < end; ) {
      const length = at + 2 <= end ? memory.view.getUint8(at + 1) : 0;
      if (length < 2 || at + length > end) return false;
      const type = memory.view.getUint8(at);
      if (type < 32) seen |= 1 << type;
      const result = this.#policy.judge(session, memory, at, length, naks);
      if (result === verdict.reject) rejects.copy(memory, at, length);
      at += length;
    }
    this.#policy.judgeMissing?.(session, seen, naks);
    if (naks.length === 0 || rejects.length > 0) return true;
    const failures = (this.#failures[session] as number) + 1;
    this.#failures[session] = Math.min(failures, 255);
    // The peer does not follow: what it insists on is refused altogether.
    if (failures > maxFailures) {
      rejects.copy(memory, body, end - body);
      naks.clear();
    }
    return true;
  }

  #onAck(session: number): void {
    const state = this.state[session] as number;
    if (this.#packet.id !== this.#id[session]) return;
    // The attempts left stay as they are: a peer that agrees and never asks for anything does not hold the session.
    if (state === controlState.requestSent) this.#enter(session, controlState.ackReceived);
    else if (state === controlState.ackSent) this.#opened(session);
    else if (state === controlState.ackReceived) {
      if (this.#isEndless(session)) return;
      this.#enter(session, controlState.requestSent);
      this.#sendRequest(session, true);
    }
  }

  #onNak(session: number, memory: Memory): void {
    const state = this.state[session] as number;
    const { id, body, end, code } = this.#packet;
    const isNegotiating = state >= controlState.requestSent && state <= controlState.ackSent;
    if (!isNegotiating || id !== this.#id[session]) return;
    for (let at = body; at + 2 <= end; ) {
      const length = memory.view.getUint8(at + 1);
      if (length < 2 || at + length > end) break;
      if (code === pppCode.configureNak) this.#policy.onNak(session, memory, at, length);
      else this.#policy.onReject(session, memory.view.getUint8(at));
      at += length;
      // An option without which the session is of no use may have ended it.
      if (this.state[session] !== state) return;
    }
    if (this.#isEndless(session)) return;
    if (state === controlState.ackReceived) this.#enter(session, controlState.requestSent);
    this.#sendRequest(session, true);
  }

  #onTerminate(session: number): void {
    const state = this.state[session] as number;
    this.sendPacket(session, pppCode.terminateAck, this.#packet.id, new Uint8Array(0));
    if (state === controlState.closed || state === controlState.closing) return;
    this.reset(session);
    this.#policy.onClosed(session, true);
  }

  #onTerminateAck(session: number): void {
    const state = this.state[session] as number;
    if (state === controlState.closing) {
      this.reset(session);
      this.#policy.onClosed(session, false);
    } else if (state === controlState.ackReceived) this.#enter(session, controlState.requestSent);
    else if (state === controlState.opened) {
      if (this.#isEndless(session)) return;
      this.#policy.onReopened(session);
      this.#enter(session, controlState.requestSent);
      this.#sendRequest(session, true);
    }
  }

  /** Counts a negotiation that begins again; true if it was one too many, which has ended it. */
  #isEndless(session: number): boolean {
    const rounds = (this.#rounds[session] as number) + 1;
    this.#rounds[session] = rounds;
    if (rounds <= maxRounds) return false;
    this.reset(session);
    this.#policy.onFailed(session, 'options');
    return true;
  }

  #opened(session: number): void {
    this.#enter(session, controlState.opened);
    this.#timers.clear(session, this.#options.timer);
    this.#policy.onOpened(session);
  }
}
