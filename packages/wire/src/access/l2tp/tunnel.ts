import { isSameBytes, Memory } from '../../bytes/memory.ts';
import type { SessionCause } from '../causes.ts';
import { type TimerKind, timerKind } from '../timers.ts';
import { type Avp, avpType, challengeResponse, halfOf, halfValue, wordValue } from './avp.ts';
import { type ControlMessage, messageType, readControl, stopResult, writeControl } from './control-message.ts';
import { L2tpHeader } from './header.ts';
import { type ChannelOptions, cycleMs, ReliableChannel } from './reliable-channel.ts';

export const tunnelState = {
  idle: 0,
  waitReply: 1,
  waitConnected: 2,
  established: 3,
  closing: 4,
  lingering: 5,
  gone: 6,
} as const;
type TunnelState = (typeof tunnelState)[keyof typeof tunnelState];

const protocolVersion = 0x0100;
/** Synchronous and asynchronous framing. */
const allFramings = 3;
const challengeBytes = 16;
const encoder = new TextEncoder();

/** The other end of a tunnel: an IPv4 address and a port of UDP. */
export interface L2tpPeer {
  readonly address: number;
  readonly port: number;
}

export interface TunnelOptions extends ChannelOptions {
  readonly hostName: Uint8Array;
  /** Empty: the peer is not authenticated and nothing is hidden. */
  readonly secret: Uint8Array;
  /** Silence before a hello; 0: none is sent. */
  readonly helloMs: number;
}

export interface TunnelHost {
  readonly random: () => number;
  nowMs(): number;
  /** Sends a control message; undefined: an acknowledgement with these numbers. */
  transmit(tunnel: Tunnel, message: Uint8Array | undefined, ns: number, nr: number): void;
  setTimer(tunnel: Tunnel, kind: TimerKind, delayMs: number): void;
  clearTimer(tunnel: Tunnel, kind: TimerKind): void;
  onOpen(tunnel: Tunnel): void;
  /** It carries no calls any more; messages of its end may still be under way. */
  onClosed(tunnel: Tunnel, cause: SessionCause): void;
  /** Nothing of it is left. */
  onGone(tunnel: Tunnel): void;
  /** A message of a call. */
  onCall(tunnel: Tunnel, message: ControlMessage): void;
}

export interface StopReason {
  readonly result: number;
  readonly error?: number;
  readonly text?: string;
  readonly cause: SessionCause;
}

/** The value of a result code, with an error code and a text where there is one. */
export const resultValue = (result: number, error = 0, text = ''): Uint8Array => {
  if (error === 0 && text === '') return halfValue(result);
  return Uint8Array.of(...halfValue(result), ...halfValue(error), ...encoder.encode(text));
};

const improper: StopReason = { result: stopResult.improperSequence, cause: 'L2TP: protocol error' };
const unauthorized: StopReason = { result: stopResult.notAuthorized, cause: 'L2TP: tunnel refused' };

/** One control connection (RFC 2661, 5.1, 5.5, 5.7 and 7.2), from either end. */
export class Tunnel {
  /** Number of the tunnel among those of its owner. */
  readonly slot: number;
  readonly localId: number;
  peerId = 0;
  peer: L2tpPeer;
  state: TunnelState = tunnelState.idle;
  readonly channel: ReliableChannel;
  readonly #host: TunnelHost;
  readonly #options: TunnelOptions;
  readonly #header = new L2tpHeader();
  readonly #challenge: Uint8Array;
  #heardMs = 0;

  constructor(host: TunnelHost, options: TunnelOptions, names: { slot: number; localId: number; peer: L2tpPeer }) {
    this.#host = host;
    this.#options = options;
    this.slot = names.slot;
    this.localId = names.localId;
    this.peer = names.peer;
    this.#challenge = this.randomBytes(challengeBytes);
    this.channel = new ReliableChannel(
      {
        transmit: (message, ns, nr) => host.transmit(this, message, ns, nr),
        setTimer: (delayMs) => host.setTimer(this, timerKind.link, delayMs),
        clearTimer: () => host.clearTimer(this, timerKind.link),
        onDead: () => this.#onDead(),
        onDrained: () => {
          if (this.state === tunnelState.closing) this.#free();
        },
      },
      options,
    );
  }

  get isOpen(): boolean {
    return this.state === tunnelState.established;
  }

  /** It is being set up or open. */
  get isLive(): boolean {
    return this.state <= tunnelState.established;
  }

  /** Asks the peer for the tunnel. */
  open(): void {
    this.state = tunnelState.waitReply;
    this.#limitSetup();
    this.send(messageType.sccrq, 0, this.#startAvps());
  }

  /** A message of the tunnel other than data. */
  receive(memory: Memory, start: number, header: L2tpHeader, peer: L2tpPeer): void {
    this.heard();
    const { ns, nr } = header;
    const message = header.payload === header.end ? undefined : memory.bytes.subarray(start, header.end);
    this.channel.receive({ ns, nr }, message, (next) => this.#onMessage(next, peer));
  }

  /** Anything came from the peer. */
  heard(): void {
    this.#heardMs = this.#host.nowMs();
  }

  /** `onSent` is called when the message leaves for the first time. */
  send(type: number, sessionId: number, avps: readonly Avp[], onSent?: () => void): void {
    const { secret } = this.#options;
    const key = secret.length === 0 ? undefined : { secret, vector: this.randomBytes(challengeBytes) };
    this.channel.send(writeControl(type, { tunnelId: this.peerId, sessionId }, avps, key), onSent);
  }

  /** Ends the tunnel and reports why. */
  close({ result, error = 0, text = '', cause }: StopReason): void {
    if (!this.isLive) return;
    this.#leave(tunnelState.closing);
    this.channel.dropUnsent();
    this.send(messageType.stopCcn, 0, [
      { type: avpType.assignedTunnelId, value: halfValue(this.localId) },
      { type: avpType.resultCode, value: resultValue(result, error, text) },
    ]);
    this.#host.onClosed(this, cause);
  }

  /** Forgets the tunnel without a word to the peer. */
  drop(cause: SessionCause): void {
    const wasLive = this.isLive;
    this.#free();
    if (wasLive) this.#host.onClosed(this, cause);
  }

  onTimer(kind: TimerKind): void {
    if (kind === timerKind.link) this.channel.onTimer();
    else if (kind === timerKind.keepAlive) this.#onHelloTimer();
    else if (this.state === tunnelState.lingering) this.#free();
    else if (!this.isOpen) this.close({ result: stopResult.clear, cause: 'L2TP: no tunnel' });
  }

  randomBytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => Math.floor(this.#host.random() * 256));
  }

  /** Ends a setup in which the peer acknowledges but does not answer. */
  #limitSetup(): void {
    this.#host.setTimer(this, timerKind.life, cycleMs(this.#options) + this.#options.timeoutMs);
  }

  #startAvps(): Avp[] {
    const { hostName, receiveWindow, secret } = this.#options;
    const avps: Avp[] = [
      { type: avpType.protocolVersion, value: halfValue(protocolVersion) },
      { type: avpType.framingCapabilities, value: wordValue(allFramings) },
      { type: avpType.hostName, value: hostName },
      { type: avpType.assignedTunnelId, value: halfValue(this.localId) },
      { type: avpType.receiveWindow, value: halfValue(receiveWindow) },
    ];
    if (secret.length > 0) avps.push({ type: avpType.challenge, value: this.#challenge });
    return avps;
  }

  #onMessage(bytes: Uint8Array, peer: L2tpPeer): void {
    if (!this.isLive) return;
    const memory = new Memory(bytes);
    this.#header.parse(memory, 0, bytes.length);
    const message = readControl(memory, this.#header, this.#options.secret);
    const isCall = message !== undefined && !message.isUnknown && message.type > messageType.hello;
    if (message === undefined) this.close({ result: stopResult.error, error: 2, cause: 'L2TP: protocol error' });
    else if (message.isUnknown && !message.isMandatory) return;
    else if (message.type === messageType.stopCcn) this.#onStop(message);
    else if (isCall && this.isOpen) this.#host.onCall(this, message);
    else if (isCall) this.close(improper);
    else if (message.isUnknown) this.#refuseUnknown(message.type);
    else if (message.error !== undefined) {
      const { code, attribute } = message.error;
      this.close({
        result: stopResult.error,
        error: code,
        text: `attribute ${attribute}`,
        cause: 'L2TP: protocol error',
      });
    } else this.#onTunnelMessage(message, peer);
  }

  #refuseUnknown(type: number): void {
    this.close({ result: stopResult.error, error: 8, text: `message type ${type}`, cause: 'L2TP: protocol error' });
  }

  #onTunnelMessage(message: ControlMessage, peer: L2tpPeer): void {
    const { type } = message;
    const { state } = this;
    if (type === messageType.hello && this.isOpen) return;
    if (type === messageType.sccrq && state === tunnelState.idle) this.#onRequest(message);
    else if (type === messageType.sccrp && state === tunnelState.waitReply) this.#onReply(message, peer);
    else if (type === messageType.scccn && state === tunnelState.waitConnected) this.#onConnected(message);
    else this.close(improper);
  }

  #onRequest(message: ControlMessage): void {
    const answer = this.#answerOf(message, messageType.sccrp);
    this.#takePeer(message);
    if (!this.#hasOurVersion(message)) return;
    if (answer === undefined) {
      this.close(unauthorized);
      return;
    }
    this.state = tunnelState.waitConnected;
    this.#limitSetup();
    this.send(messageType.sccrp, 0, [...this.#startAvps(), ...answer]);
  }

  #onReply(message: ControlMessage, peer: L2tpPeer): void {
    // The peer may answer from another port than the one that was called.
    this.peer = peer;
    this.#takePeer(message);
    if (!this.#hasOurVersion(message)) return;
    const answer = this.#answerOf(message, messageType.scccn);
    if (answer === undefined || !this.#isProven(message)) {
      this.close(unauthorized);
      return;
    }
    this.send(messageType.scccn, 0, answer);
    this.#establish();
  }

  #onConnected(message: ControlMessage): void {
    if (this.#isProven(message)) this.#establish();
    else this.close(unauthorized);
  }

  #onStop({ avps }: ControlMessage): void {
    const wasOpen = this.isOpen;
    if (this.peerId === 0) this.peerId = halfOf(avps, avpType.assignedTunnelId);
    this.#leave(tunnelState.lingering);
    this.channel.close();
    this.#host.setTimer(this, timerKind.life, cycleMs(this.#options));
    this.#host.onClosed(this, wasOpen ? 'L2TP: tunnel ended by the peer' : 'L2TP: tunnel refused');
  }

  #takePeer({ avps }: ControlMessage): void {
    this.peerId = halfOf(avps, avpType.assignedTunnelId);
    if (avps.has(avpType.receiveWindow)) this.channel.setPeerWindow(halfOf(avps, avpType.receiveWindow));
  }

  #hasOurVersion({ avps }: ControlMessage): boolean {
    if (halfOf(avps, avpType.protocolVersion) === protocolVersion) return true;
    this.close({ result: stopResult.version, error: protocolVersion, cause: 'L2TP: tunnel refused' });
    return false;
  }

  /** The answer to a challenge; undefined if there is one and no secret. */
  #answerOf({ avps }: ControlMessage, type: number): Avp[] | undefined {
    const challenge = avps.get(avpType.challenge);
    const { secret } = this.#options;
    if (challenge === undefined) return [];
    if (secret.length === 0) return undefined;
    return [{ type: avpType.challengeResponse, value: challengeResponse(type, secret, challenge) }];
  }

  #isProven({ type, avps }: ControlMessage): boolean {
    const { secret } = this.#options;
    if (secret.length === 0) return true;
    const response = avps.get(avpType.challengeResponse);
    return response !== undefined && isSameBytes(response, challengeResponse(type, secret, this.#challenge));
  }

  #establish(): void {
    this.state = tunnelState.established;
    this.#host.clearTimer(this, timerKind.life);
    const { helloMs } = this.#options;
    if (helloMs > 0) this.#host.setTimer(this, timerKind.keepAlive, helloMs);
    this.#host.onOpen(this);
  }

  #onHelloTimer(): void {
    if (!this.isOpen) return;
    const { helloMs } = this.#options;
    const silentMs = this.#host.nowMs() - this.#heardMs;
    if (silentMs >= helloMs && this.channel.pending === 0) this.send(messageType.hello, 0, []);
    this.#host.setTimer(this, timerKind.keepAlive, silentMs >= helloMs ? helloMs : helloMs - silentMs);
  }

  #onDead(): void {
    const cause = this.isOpen ? 'L2TP: tunnel without answer' : 'L2TP: no tunnel';
    this.drop(cause);
  }

  #leave(state: TunnelState): void {
    this.state = state;
    this.#host.clearTimer(this, timerKind.keepAlive);
    this.#host.clearTimer(this, timerKind.life);
  }

  #free(): void {
    if (this.state === tunnelState.gone) return;
    this.#leave(tunnelState.gone);
    this.channel.close();
    this.#host.onGone(this);
  }
}
