import type { KeyPair, WireGuardCrypto } from './crypto.ts';
import { createInitiation, type HandshakeState, type PeerKeys, readResponse, writeMacs } from './handshake.ts';
import { rekey, Session } from './session.ts';

/** Times of the paper, in milliseconds. */
const rekeyTimeoutMs = 5000;
const rekeyAttemptMs = 90_000;
const keepaliveTimeoutMs = 10_000;
const cookieLifeMs = 120_000;
const maxJitterMs = 333;

export interface PeerOptions {
  readonly keys: PeerKeys;
  /** Local and remote address of the outer packets and their ports (9 words); the remote part follows the peer. */
  readonly endpoint: Int32Array;
  /** Outer host. */
  readonly path: number;
  /** 0: none. */
  readonly keepaliveSec: number;
}

/** The device a peer belongs to. */
export interface PeerContext {
  readonly crypto: WireGuardCrypto;
  readonly own: KeyPair;
  nowMs: number;
  /** Milliseconds since 1970. */
  wallMs(): number;
  newIndex(peer: WireGuardPeer): number;
  dropIndex(index: number): void;
  transmit(peer: WireGuardPeer, message: Uint8Array): void;
  /** Sends an empty packet. */
  sendKeepalive(peer: WireGuardPeer): void;
  /** A session is ready; milliseconds since the first message of its handshake. */
  onSession(peer: WireGuardPeer, setupMs: number): void;
  onHandshakeFailed(): void;
}

/** The other end of a tunnel: its sessions and timers. */
export class WireGuardPeer {
  readonly keys: PeerKeys;
  readonly endpoint: Int32Array;
  readonly path: number;
  current: Session | undefined;
  previous: Session | undefined;
  /** Of a responder, until the initiator has used it. */
  next: Session | undefined;
  /** The largest timestamp of an initiation: earlier ones are replays. */
  latestTimestamp = new Uint8Array(12);
  cookie: { readonly bytes: Uint8Array; readonly untilMs: number } | undefined;
  lastMac1: Uint8Array | undefined;
  readonly #context: PeerContext;
  readonly #keepaliveMs: number;
  #handshake: { state: HandshakeState; index: number } | undefined;
  #startedMs = 0;
  #retryMs = Number.POSITIVE_INFINITY;
  /** Data that arrived after the last packet of ours, and data of ours after the last that arrived. */
  #unansweredSince = Number.POSITIVE_INFINITY;
  #awaitingSince = Number.POSITIVE_INFINITY;
  #lastSentMs = 0;
  #lastTimestampMs = 0;

  constructor(context: PeerContext, { keys, endpoint, path, keepaliveSec }: PeerOptions) {
    this.#context = context;
    this.keys = keys;
    this.endpoint = endpoint;
    this.path = path;
    this.#keepaliveMs = keepaliveSec * 1000;
  }

  get isHandshaking(): boolean {
    return this.#retryMs !== Number.POSITIVE_INFINITY;
  }

  /** The session that data is sent with; without one a handshake begins. */
  outgoing(): Session | undefined {
    const { nowMs } = this.#context;
    const { current } = this;
    if (current === undefined || nowMs - current.createdMs >= rekey.rejectAfterMs) {
      this.beginHandshake();
      return undefined;
    }
    const isOld = nowMs - current.createdMs >= rekey.afterMs && current.isInitiator;
    if (isOld || current.sentMessages >= rekey.afterMessages) this.beginHandshake();
    return current;
  }

  beginHandshake(): void {
    if (this.isHandshaking) return;
    this.#startedMs = this.#context.nowMs;
    this.#sendInitiation();
  }

  /** The answer to the initiation; undefined if it is not one. */
  receiveResponse(message: Uint8Array, index: number): boolean {
    const { crypto, own, nowMs } = this.#context;
    const handshake = this.#handshake;
    if (handshake === undefined || handshake.index !== index) return false;
    const { presharedKey } = this.keys;
    const keys = readResponse(crypto, message, { state: handshake.state, own, presharedKey });
    if (keys === undefined) return false;
    const remoteIndex = new DataView(message.buffer, message.byteOffset).getUint32(4, true);
    this.#handshake = undefined;
    this.#retryMs = Number.POSITIVE_INFINITY;
    this.#retire(this.previous);
    this.previous = this.current;
    this.current = new Session(crypto, keys, { localIndex: index, remoteIndex, isInitiator: true, createdMs: nowMs });
    this.#context.onSession(this, nowMs - this.#startedMs);
    // The responder may send only after it has received something.
    this.#context.sendKeepalive(this);
    return true;
  }

  /** Keys of a handshake that the other side has begun. */
  prepareNext(session: Session): void {
    this.#retire(this.next);
    this.next = session;
  }

  /** A packet has been decrypted by one of the sessions. */
  noteReceived(session: Session, isData: boolean): void {
    const { nowMs } = this.#context;
    if (session === this.next) {
      this.#retire(this.previous);
      this.previous = this.current;
      this.current = session;
      this.next = undefined;
      this.#context.onSession(this, 0);
    }
    this.#awaitingSince = Number.POSITIVE_INFINITY;
    if (isData) this.#unansweredSince = Math.min(this.#unansweredSince, nowMs);
    const age = nowMs - session.createdMs;
    const isNearEnd = age >= rekey.rejectAfterMs - keepaliveTimeoutMs - rekeyTimeoutMs;
    if (session === this.current && session.isInitiator && isNearEnd) this.beginHandshake();
  }

  noteSent(isData: boolean): void {
    const { nowMs } = this.#context;
    this.#lastSentMs = nowMs;
    this.#unansweredSince = Number.POSITIVE_INFINITY;
    if (isData) this.#awaitingSince = Math.min(this.#awaitingSince, nowMs);
  }

  /** Runs timers; called about ten times a second. */
  advance(): void {
    const { nowMs } = this.#context;
    if (nowMs >= this.#retryMs) this.#retry();
    if (nowMs - this.#awaitingSince >= keepaliveTimeoutMs + rekeyTimeoutMs) {
      this.#awaitingSince = Number.POSITIVE_INFINITY;
      this.beginHandshake();
    }
    if (this.current === undefined) return;
    const isQuiet = nowMs - this.#unansweredSince >= keepaliveTimeoutMs;
    const isDue = this.#keepaliveMs > 0 && nowMs - this.#lastSentMs >= this.#keepaliveMs;
    if (isQuiet || isDue) this.#context.sendKeepalive(this);
  }

  #retry(): void {
    const { nowMs } = this.#context;
    if (nowMs - this.#startedMs < rekeyAttemptMs) {
      this.#sendInitiation();
      return;
    }
    this.#retryMs = Number.POSITIVE_INFINITY;
    this.#dropHandshake();
    this.#context.onHandshakeFailed();
  }

  #sendInitiation(): void {
    const { crypto, own, nowMs } = this.#context;
    this.#dropHandshake();
    const index = this.#context.newIndex(this);
    const { message, state } = createInitiation(crypto, { own, peer: this.keys, index, timestamp: this.#timestamp() });
    const cookie = this.cookie !== undefined && nowMs < this.cookie.untilMs ? this.cookie.bytes : undefined;
    writeMacs(message, this.keys.publicKey, cookie);
    this.lastMac1 = message.slice(-32, -16);
    this.#handshake = { state, index };
    this.#retryMs = nowMs + rekeyTimeoutMs + ((crypto.random(1)[0] as number) / 256) * maxJitterMs;
    this.#context.transmit(this, message);
  }

  /** The answer of a busy peer: the next initiation proves with it that its address is right. */
  setCookie(bytes: Uint8Array): void {
    this.cookie = { bytes, untilMs: this.#context.nowMs + cookieLifeMs };
  }

  /** TAI64N of now; every one is larger than the one before. */
  #timestamp(): Uint8Array {
    this.#lastTimestampMs = Math.max(this.#context.wallMs(), this.#lastTimestampMs + 1);
    const bytes = new Uint8Array(12);
    const view = new DataView(bytes.buffer);
    const seconds = Math.floor(this.#lastTimestampMs / 1000) + 10;
    view.setUint32(0, 0x40000000 + Math.floor(seconds / 2 ** 32));
    view.setUint32(4, seconds >>> 0);
    view.setUint32(8, Math.floor((this.#lastTimestampMs % 1000) * 1_000_000));
    return bytes;
  }

  #dropHandshake(): void {
    if (this.#handshake !== undefined) this.#context.dropIndex(this.#handshake.index);
    this.#handshake = undefined;
  }

  #retire(session: Session | undefined): void {
    if (session !== undefined) this.#context.dropIndex(session.localIndex);
  }
}
