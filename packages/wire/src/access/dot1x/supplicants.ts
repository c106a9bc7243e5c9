import { copyOf, type Memory } from '../../bytes/memory.ts';
import { isSameMac, macBytes, vlanIds } from '../../ethernet/ethernet.ts';
import type { SessionCause } from '../causes.ts';
import type { FrameWriter } from '../frames.ts';
import type { Lines } from '../lines.ts';
import type { Subscribers } from '../subscribers.ts';
import { timerKind } from '../timers.ts';
import {
  type EapMessage,
  EapolFrame,
  eapCode,
  eapMethod,
  eapolBytes,
  eapolKind,
  eapolType,
  maxEapolBytes,
  md5Proof,
  noData,
  readMd5Value,
  writeEapol,
  writeMd5Value,
} from './eapol.ts';

/** A method of EAP that has state, for one conversation. */
export interface SupplicantMethod {
  /** Both sides have proven who they are. */
  readonly isDone: boolean;
  /** Answers the data of a request by those of the response; undefined: the request is not valid. */
  answer(data: Uint8Array, id: number): Uint8Array | undefined;
  close(): void;
}

export interface SupplicantOptions {
  readonly version: number;
  readonly groupMac: Uint8Array;
  readonly logoff: boolean;
  readonly startPeriodMs: number;
  /** Start messages before a session goes on without authentication. */
  readonly maxStart: number;
  readonly authPeriodMs: number;
  readonly heldPeriodMs: number;
  /** 0: never. */
  readonly reauthMs: number;
  readonly identity: (session: number) => Uint8Array;
  readonly password: (session: number) => Uint8Array;
  /** How results name the method. */
  readonly methodName?: string;
  /** Another method than MD5. */
  readonly method?: { readonly type: number; readonly create: (session: number) => SupplicantMethod } | undefined;
}

/** A conversation by a method that has state. */
interface Conversation {
  readonly method: SupplicantMethod;
  /** The last request and its answer, which is repeated with it; -1: none. */
  id: number;
  answer: Uint8Array;
}

export interface SupplicantHost {
  readonly frames: FrameWriter;
  readonly lines: Lines;
  readonly subscribers: Subscribers;
  /** The port is open, with or without authentication. */
  onOpen(session: number): void;
  /** A session that was let in is refused or gets no answer. */
  onLost(session: number, cause: SessionCause): void;
}

const state = { idle: 0, connecting: 1, authenticating: 2, open: 3, held: 4 } as const;
/** Requests of the authenticator that are answered before it decides; some send without end. */
const maxRequests = 100;
type State = (typeof state)[keyof typeof state];
const isWaiting = (value: number | undefined) => value === state.connecting || value === state.authenticating;

/** The side of 802.1X that asks to be let in, for all sessions of a port. */
export class Supplicants {
  readonly counters: { sent: number; received: number; invalid: number; timeouts: number } = {
    ...{ sent: 0, received: 0, invalid: 0, timeouts: 0 },
  };
  readonly #host: SupplicantHost;
  readonly #options: SupplicantOptions;
  readonly #state: Uint8Array;
  readonly #starts: Uint8Array;
  readonly #requests: Uint8Array;
  /** Sessions that have answered the method, and those that were let in by it. */
  readonly #hasAnswered: Uint8Array;
  readonly #isProven: Uint8Array;
  readonly #heldUntilMs: Float64Array;
  readonly #conversations = new Map<number, Conversation>();
  readonly #frame = new EapolFrame();
  readonly #mac = new Uint8Array(macBytes);

  constructor(host: SupplicantHost, options: SupplicantOptions) {
    const { count } = host.lines;
    this.#host = host;
    this.#options = options;
    this.#state = new Uint8Array(count);
    this.#starts = new Uint8Array(count);
    this.#requests = new Uint8Array(count);
    this.#hasAnswered = new Uint8Array(count);
    this.#isProven = new Uint8Array(count);
    this.#heldUntilMs = new Float64Array(count);
  }

  get methodName(): string {
    return this.#options.methodName ?? 'EAP-MD5';
  }

  /** Whether the authenticator has let a session in, and not only kept silent. */
  isAuthenticated(session: number): boolean {
    return this.#isProven[session] === 1;
  }

  start(session: number): void {
    const { subscribers } = this.#host;
    subscribers.onStep(session, '802.1X');
    this.#isProven[session] = 0;
    const waitMs = (this.#heldUntilMs[session] as number) - subscribers.timers.nowMs;
    if (waitMs > 0) this.#enter(session, state.held, waitMs);
    else this.#connect(session);
  }

  /** Sends EAPOL-Logoff where the profile asks for it. */
  stop(session: number): void {
    if (this.#options.logoff && this.#state[session] !== state.idle) this.#send(session, eapolKind.logoff);
    this.drop(session);
  }

  drop(session: number): void {
    this.#state[session] = state.idle;
    this.#isProven[session] = 0;
    this.#forget(session);
    this.#host.subscribers.timers.clear(session, timerKind.port);
  }

  onTimer(session: number): void {
    switch (this.#state[session]) {
      case state.held:
        this.#connect(session);
        break;
      case state.open:
        this.#connect(session);
        break;
      case state.connecting:
        this.counters.timeouts++;
        if ((this.#starts[session] as number) < this.#options.maxStart) this.#sendStart(session);
        else if (this.#isProven[session] === 1) this.#fail(session, '802.1X: no answer');
        else this.#open(session);
        break;
      case state.authenticating:
        this.counters.timeouts++;
        this.#fail(session, '802.1X: no answer');
        break;
    }
  }

  /** Takes a frame: to the session it is addressed to, or to all that wait in its VLAN. */
  receive(memory: Memory, frame: number, { payload, tags }: { payload: number; tags: number }, end: number): void {
    const { lines } = this.#host;
    if (!this.#frame.parse(memory, payload, end)) {
      this.counters.invalid++;
      return;
    }
    if (this.#frame.kind !== eapolKind.eap) return;
    const isSameVlan = (session: number) => vlanIds(lines.tagsOf(session)) === vlanIds(tags);
    if (isSameMac(memory.bytes, frame, this.#options.groupMac, 0)) {
      for (let session = 0; session < lines.count; session++)
        if (isWaiting(this.#state[session]) && isSameVlan(session)) this.#onEap(session, memory);
      return;
    }
    const session = lines.indexOf(memory.bytes, frame);
    if (session >= 0 && isSameVlan(session)) this.#onEap(session, memory);
  }

  #onEap(session: number, memory: Memory): void {
    const current = this.#state[session];
    if (current === state.idle || current === state.held) return;
    this.counters.received++;
    const { code } = this.#frame;
    if (code === eapCode.request) this.#onRequest(session, memory);
    else if (code === eapCode.success && this.#isConvinced(session) && isWaiting(current)) {
      this.#isProven[session] = 1;
      this.#forget(session);
      this.#open(session);
    } else if (code === eapCode.failure && current !== state.connecting) {
      this.#heldUntilMs[session] = this.#host.subscribers.timers.nowMs + this.#options.heldPeriodMs;
      this.#fail(session, '802.1X: refused');
    }
  }

  #onRequest(session: number, memory: Memory): void {
    const requests = (this.#requests[session] as number) + 1;
    this.#requests[session] = requests;
    if (requests > maxRequests) {
      this.#fail(session, '802.1X: no answer');
      return;
    }
    const { id, method, data, end } = this.#frame;
    const { identity, password, authPeriodMs } = this.#options;
    const wanted = this.#options.method;
    const challenge = wanted === undefined && method === eapMethod.md5 ? readMd5Value(memory, data, end) : undefined;
    const answer = (type: number, bytes: Uint8Array) =>
      this.#send(session, eapolKind.eap, { code: eapCode.response, id, method: type, data: bytes });
    this.#enter(session, state.authenticating, authPeriodMs);
    if (method === eapMethod.identity) {
      this.#hasAnswered[session] = 0;
      this.#forget(session);
      answer(eapMethod.identity, identity(session));
    } else if (method === eapMethod.notification) answer(eapMethod.notification, noData);
    else if (challenge !== undefined) {
      this.#hasAnswered[session] = 1;
      answer(eapMethod.md5, writeMd5Value(md5Proof(id, password(session), challenge), identity(session)));
    } else if (method === wanted?.type) this.#converse(session, id, copyOf(memory.bytes, data, end));
    else answer(eapMethod.nak, Uint8Array.of(wanted?.type ?? eapMethod.md5));
  }

  #converse(session: number, id: number, data: Uint8Array): void {
    const { method: wanted } = this.#options;
    if (wanted === undefined) return;
    let talk = this.#conversations.get(session);
    if (talk === undefined) {
      talk = { method: wanted.create(session), id: -1, answer: noData };
      this.#conversations.set(session, talk);
    }
    if (talk.id !== id) {
      const answer = talk.method.answer(data, id);
      if (answer === undefined) {
        this.counters.invalid++;
        return;
      }
      Object.assign(talk, { id, answer });
    }
    this.#hasAnswered[session] = 1;
    this.#send(session, eapolKind.eap, { code: eapCode.response, id, method: wanted.type, data: talk.answer });
  }

  /** The session believes that the authenticator may let it in. */
  #isConvinced(session: number): boolean {
    const isDone = this.#options.method === undefined || this.#conversations.get(session)?.method.isDone === true;
    return this.#hasAnswered[session] === 1 && isDone;
  }

  #forget(session: number): void {
    this.#conversations.get(session)?.method.close();
    this.#conversations.delete(session);
  }

  #connect(session: number): void {
    this.#starts[session] = 0;
    this.#requests[session] = 0;
    this.#hasAnswered[session] = 0;
    this.#forget(session);
    this.#sendStart(session);
  }

  #sendStart(session: number): void {
    this.#starts[session] = (this.#starts[session] as number) + 1;
    this.#enter(session, state.connecting, this.#options.startPeriodMs);
    this.#send(session, eapolKind.start);
  }

  #open(session: number): void {
    const { subscribers } = this.#host;
    this.#state[session] = state.open;
    this.#requests[session] = 0;
    subscribers.timers.clear(session, timerKind.port);
    const { reauthMs } = this.#options;
    if (reauthMs > 0 && this.#isProven[session] === 1) subscribers.timers.set(session, timerKind.port, reauthMs);
    this.#host.onOpen(session);
  }

  #fail(session: number, cause: SessionCause): void {
    this.drop(session);
    this.#host.onLost(session, cause);
  }

  #enter(session: number, next: State, timeoutMs: number): void {
    this.#state[session] = next;
    this.#host.subscribers.timers.set(session, timerKind.port, timeoutMs);
  }

  #send(session: number, kind: number, eap?: EapMessage): void {
    const { frames, lines } = this.#host;
    const at = frames.begin(session, Math.max(maxEapolBytes, eap === undefined ? 0 : eapolBytes(eap)));
    if (at < 0) return;
    const { version, groupMac } = this.#options;
    const end = writeEapol(frames.memory, at, { version, kind, ...(eap && { eap }) });
    lines.writeMac(session, this.#mac, 0);
    const route = { path: session, tags: lines.tagsOf(session), sourceMac: this.#mac, destinationMac: groupMac };
    frames.send(at, end, eapolType, route);
    this.counters.sent++;
  }
}
