import { causeCode, type SessionCause, sessionCauses } from './causes.ts';

export const sessionStates = ['idle', 'setup', 'up', 'closing', 'waiting', 'ended'] as const;
export type SessionState = (typeof sessionStates)[number];
/** Code of a state in the records. */
export const sessionState = { idle: 0, setup: 1, up: 2, closing: 3, waiting: 4, ended: 5 } as const;

/** What a session in setup is waiting for. The order is the code in the records. */
export const sessionSteps = [
  'none',
  'PPPoE discovery',
  'PPPoE request',
  'LCP',
  'authentication',
  'IPCP and IP6CP',
  'DHCP',
  'gateway',
  'IPv6',
  '802.1X',
  'L2TP tunnel',
  'L2TP call',
] as const;
export type SessionStep = (typeof sessionSteps)[number];
const stepCodes = new Map<SessionStep, number>(sessionSteps.map((step, code) => [step, code]));

/** One session as a reader sees it. */
export interface SessionView {
  readonly state: SessionState;
  readonly step: SessionStep;
  readonly attempts: number;
  readonly flaps: number;
  /** Milliseconds of the last setup; -1 before the first. */
  readonly setupMs: number;
  readonly cause: SessionCause;
}

/** The records of all sessions of a port: state, history and counters, in typed arrays. */
export class SessionTable {
  readonly count: number;
  readonly state: Uint8Array;
  readonly attempts: Uint32Array;
  readonly flaps: Uint32Array;
  /** Milliseconds of the last setup; -1 before the first. */
  readonly setupMs: Float32Array;
  readonly rxPackets: Uint32Array;
  readonly txPackets: Uint32Array;
  readonly rxBytes: Float64Array;
  readonly txBytes: Float64Array;
  /** Sessions in each state. */
  readonly counts: Uint32Array = new Uint32Array(sessionStates.length);
  /** Sessions in each step of the setup. */
  readonly stepCounts: Uint32Array = new Uint32Array(sessionSteps.length);
  readonly #step: Uint8Array;
  readonly #cause: Uint8Array;
  readonly #startedMs: Float64Array;
  readonly #stepMs: Float64Array;
  readonly #upAtMs: Float64Array;
  /** Milliseconds of the last time up that is over. */
  readonly #upMs: Float64Array;

  constructor(count: number) {
    this.count = count;
    this.state = new Uint8Array(count);
    this.attempts = new Uint32Array(count);
    this.flaps = new Uint32Array(count);
    this.setupMs = new Float32Array(count).fill(-1);
    this.rxPackets = new Uint32Array(count);
    this.txPackets = new Uint32Array(count);
    this.rxBytes = new Float64Array(count);
    this.txBytes = new Float64Array(count);
    this.#step = new Uint8Array(count);
    this.#cause = new Uint8Array(count);
    this.#startedMs = new Float64Array(count);
    this.#stepMs = new Float64Array(count);
    this.#upAtMs = new Float64Array(count);
    this.#upMs = new Float64Array(count);
    this.counts[sessionState.idle] = count;
    this.stepCounts[0] = count;
  }

  viewOf(session: number): SessionView {
    return {
      state: sessionStates[this.state[session] as number] as SessionState,
      step: sessionSteps[this.#step[session] as number] as SessionStep,
      attempts: this.attempts[session] as number,
      flaps: this.flaps[session] as number,
      setupMs: this.setupMs[session] as number,
      cause: this.causeOf(session),
    };
  }

  causeOf(session: number): SessionCause {
    return sessionCauses[this.#cause[session] as number] as SessionCause;
  }

  setCause(session: number, cause: SessionCause): void {
    this.#cause[session] = causeCode(cause);
  }

  setState(session: number, next: number, nowMs: number): void {
    const { counts } = this;
    const before = this.state[session] as number;
    if (before === sessionState.up) this.#upMs[session] = nowMs - (this.#upAtMs[session] as number);
    counts[before] = (counts[before] as number) - 1;
    counts[next] = (counts[next] as number) + 1;
    this.state[session] = next;
  }

  begin(session: number, nowMs: number): void {
    this.attempts[session] = (this.attempts[session] as number) + 1;
    this.#startedMs[session] = nowMs;
    this.setState(session, sessionState.setup, nowMs);
  }

  /** Enters a step of the setup; returns the milliseconds that the step before has taken. */
  enterStep(session: number, step: SessionStep, nowMs: number): number {
    const { stepCounts } = this;
    const before = this.#step[session] as number;
    const next = stepCodes.get(step) as number;
    stepCounts[before] = (stepCounts[before] as number) - 1;
    stepCounts[next] = (stepCounts[next] as number) + 1;
    this.#step[session] = next;
    const took = nowMs - (this.#stepMs[session] as number);
    this.#stepMs[session] = nowMs;
    return took;
  }

  stepOf(session: number): SessionStep {
    return sessionSteps[this.#step[session] as number] as SessionStep;
  }

  /** Marks a session as established; returns the milliseconds of its setup. */
  establish(session: number, nowMs: number): number {
    const took = nowMs - (this.#startedMs[session] as number);
    this.setupMs[session] = took;
    this.setState(session, sessionState.up, nowMs);
    this.#upAtMs[session] = nowMs;
    return took;
  }

  /** Milliseconds that a session has been up, or that its last time up took; 0: it was never up. */
  uptimeOf(session: number, nowMs: number): number {
    const isUp = this.state[session] === sessionState.up;
    return isUp ? nowMs - (this.#upAtMs[session] as number) : (this.#upMs[session] as number);
  }

  /** Packets and bytes of a session in both directions. */
  usageOf(session: number): { rxPackets: number; txPackets: number; rxBytes: number; txBytes: number } {
    const [rxPackets, txPackets] = [this.rxPackets[session] as number, this.txPackets[session] as number];
    return { rxPackets, txPackets, rxBytes: this.rxBytes[session] as number, txBytes: this.txBytes[session] as number };
  }

  countSent(session: number, bytes: number): void {
    this.txPackets[session] = (this.txPackets[session] as number) + 1;
    this.txBytes[session] = (this.txBytes[session] as number) + bytes;
  }

  countReceived(session: number, bytes: number): void {
    this.rxPackets[session] = (this.rxPackets[session] as number) + 1;
    this.rxBytes[session] = (this.rxBytes[session] as number) + bytes;
  }
}
