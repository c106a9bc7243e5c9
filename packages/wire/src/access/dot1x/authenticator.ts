import type { Memory } from '../../bytes/memory.ts';
import { isSameMac, macBytes, vlanIds } from '../../ethernet/ethernet.ts';
import type { FrameWriter } from '../frames.ts';
import { readMac } from '../lines.ts';
import {
  type EapMessage,
  EapolFrame,
  eapCode,
  eapMethod,
  eapolKind,
  eapolType,
  maxEapolBytes,
  md5Bytes,
  md5Proof,
  noData,
  readMd5Value,
  writeEapol,
  writeMd5Value,
} from './eapol.ts';

export interface AuthenticatorOptions {
  readonly version: number;
  readonly mac: Uint8Array;
  readonly groupMac: Uint8Array;
  readonly decision: 'check' | 'accept' | 'reject';
  readonly rejectPct: number;
  /** Wait for an answer of a supplicant. */
  readonly answerMs: number;
  /** Wait after a refusal, in which a supplicant is not heard. */
  readonly quietMs: number;
  /** 0: never. */
  readonly reauthMs: number;
  /** Undefined: there is no such user. */
  readonly passwordOf: (identity: string) => Uint8Array | undefined;
}

export interface AuthenticatorHost {
  readonly frames: FrameWriter;
  readonly random: () => number;
  /** The state of a supplicant has changed. */
  onChange(index: number): void;
}

export const portStates = ['connecting', 'authenticating', 'authorized', 'held', 'ended'] as const;
export type PortState = (typeof portStates)[number];

/** One supplicant that has been heard. */
export interface PortPeer {
  readonly index: number;
  readonly mac: Uint8Array;
  readonly tags: number;
  state: PortState;
  /** It is let in, also while it is asked again. */
  isOpen: boolean;
  identity: string;
  attempts: number;
  refusals: number;
  lastError: string;
  id: number;
  challenge: Uint8Array;
  sends: number;
  /** The frame that is repeated, and when. */
  last: EapMessage | undefined;
  dueMs: number;
}

export const maxPeers = 100_000;
/** A request is sent so often before a supplicant counts as gone. */
const maxSends = 3;
const never = Number.POSITIVE_INFINITY;
const decoder = new TextDecoder();
const serverName = new TextEncoder().encode('rushhour');

/** The side of 802.1X that lets supplicants in, each by its MAC and VLAN. It checks passwords itself, by EAP-MD5. */
export class Authenticator {
  readonly peers: PortPeer[] = [];
  readonly counters: { sent: number; received: number; invalid: number; timeouts: number } = {
    ...{ sent: 0, received: 0, invalid: 0, timeouts: 0 },
  };
  readonly #host: AuthenticatorHost;
  readonly #options: AuthenticatorOptions;
  /** Those with the same MAC are in different VLANs. */
  readonly #byMac = new Map<number, PortPeer[]>();
  readonly #frame = new EapolFrame();
  #nowMs = 0;
  #hasGreeted = false;

  constructor(host: AuthenticatorHost, options: AuthenticatorOptions) {
    this.#host = host;
    this.#options = options;
  }

  countOf(state: PortState): number {
    return this.peers.reduce((sum, peer) => sum + (peer.state === state ? 1 : 0), 0);
  }

  receive(memory: Memory, frame: number, { payload, tags }: { payload: number; tags: number }, end: number): void {
    const { bytes } = memory;
    const { groupMac, mac } = this.#options;
    if (!isSameMac(bytes, frame, groupMac, 0) && !isSameMac(bytes, frame, mac, 0)) return;
    if (!this.#frame.parse(memory, payload, end)) {
      this.counters.invalid++;
      return;
    }
    const peer = this.#find(bytes, frame + macBytes, tags) ?? this.#add(bytes, frame + macBytes, tags);
    if (peer === undefined) return;
    this.counters.received++;
    const { kind, code } = this.#frame;
    if (kind === eapolKind.start) this.#onStart(peer);
    else if (kind === eapolKind.logoff) this.#end(peer, '');
    else if (kind === eapolKind.eap && code === eapCode.response) this.#onResponse(peer, memory);
  }

  /** Milliseconds since the start. */
  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    if (!this.#hasGreeted) {
      // Supplicants that wait for the authenticator to speak are asked who they are.
      this.#hasGreeted = true;
      const eap = { code: eapCode.request, id: 0, method: eapMethod.identity, data: noData };
      this.#send(this.#options.groupMac, 0, eap);
    }
    for (const peer of this.peers) if (nowMs >= peer.dueMs) this.#onTimer(peer);
  }

  /** Whether frames of the MAC at `at` are let in. */
  isOpen(bytes: Uint8Array, at: number, tags: number): boolean {
    return this.#find(bytes, at, tags)?.isOpen ?? false;
  }

  #find(bytes: Uint8Array, at: number, tags: number): PortPeer | undefined {
    return this.#byMac.get(readMac(bytes, at))?.find((peer) => vlanIds(peer.tags) === vlanIds(tags));
  }

  #add(bytes: Uint8Array, at: number, tags: number): PortPeer | undefined {
    if (this.peers.length >= maxPeers) return undefined;
    const peer: PortPeer = {
      ...{ index: this.peers.length, mac: new Uint8Array(bytes.subarray(at, at + macBytes)), tags },
      ...{ state: 'ended', isOpen: false, identity: '' },
      ...{ attempts: 0, refusals: 0, lastError: '', id: 0, challenge: noData, sends: 0 },
      ...{ last: undefined, dueMs: never },
    };
    this.peers.push(peer);
    const number = readMac(bytes, at);
    this.#byMac.set(number, [...(this.#byMac.get(number) ?? []), peer]);
    return peer;
  }

  #onStart(peer: PortPeer): void {
    if (peer.state === 'held') return;
    peer.attempts++;
    this.#ask(peer, 'connecting', eapMethod.identity, noData);
  }

  #onResponse(peer: PortPeer, memory: Memory): void {
    const { id, method, data, end } = this.#frame;
    if (peer.state === 'held') return;
    // The answer to the greeting at the start has no request of its own.
    const isGreeted = peer.state === 'ended' && method === eapMethod.identity && id === 0;
    if (isGreeted) peer.attempts++;
    else if (id !== peer.id || peer.last === undefined) return;
    if (method === eapMethod.identity) {
      peer.identity = decoder.decode(memory.bytes.subarray(data, end));
      peer.challenge = Uint8Array.from({ length: md5Bytes }, () => Math.floor(this.#host.random() * 256));
      this.#ask(peer, 'authenticating', eapMethod.md5, writeMd5Value(peer.challenge, serverName));
    } else if (method === eapMethod.md5 && peer.state === 'authenticating')
      this.#decide(peer, readMd5Value(memory, data, end));
    else if (method === eapMethod.nak) this.#refuse(peer, 'method not accepted');
  }

  #decide(peer: PortPeer, proof: Uint8Array | undefined): void {
    const { decision, rejectPct, reauthMs, passwordOf } = this.#options;
    const password = passwordOf(peer.identity);
    const right = password && md5Proof(peer.id, password, peer.challenge);
    const isRight = right !== undefined && proof?.length === md5Bytes && proof.every((byte, i) => byte === right[i]);
    if (decision === 'reject' || this.#host.random() * 100 < rejectPct) this.#refuse(peer, 'refused on purpose');
    else if (decision === 'check' && !isRight)
      this.#refuse(peer, password === undefined ? 'unknown user' : 'wrong password');
    else {
      this.#send(peer.mac, peer.tags, { code: eapCode.success, id: peer.id, method: 0, data: noData });
      peer.lastError = '';
      peer.isOpen = true;
      this.#enter(peer, 'authorized', reauthMs > 0 ? reauthMs : never);
    }
  }

  #refuse(peer: PortPeer, reason: string): void {
    this.#send(peer.mac, peer.tags, { code: eapCode.failure, id: peer.id, method: 0, data: noData });
    peer.refusals++;
    peer.isOpen = false;
    peer.lastError = reason;
    this.#enter(peer, 'held', this.#options.quietMs);
  }

  #end(peer: PortPeer, reason: string): void {
    peer.lastError = reason;
    peer.isOpen = false;
    this.#enter(peer, 'ended', never);
  }

  /** A supplicant that is let in stays so while it is asked again. */
  #ask(peer: PortPeer, state: PortState, method: number, data: Uint8Array): void {
    peer.id = (peer.id + 1) & 255;
    this.#enter(peer, state, this.#options.answerMs);
    peer.last = { code: eapCode.request, id: peer.id, method, data };
    peer.sends = 1;
    this.#send(peer.mac, peer.tags, peer.last);
  }

  #onTimer(peer: PortPeer): void {
    if (peer.state === 'authorized') this.#ask(peer, 'connecting', eapMethod.identity, noData);
    else if (peer.last !== undefined && peer.sends < maxSends) {
      peer.sends++;
      peer.dueMs = this.#nowMs + this.#options.answerMs;
      this.#send(peer.mac, peer.tags, peer.last);
    } else {
      if (peer.state !== 'held') this.counters.timeouts++;
      this.#end(peer, peer.state === 'held' ? peer.lastError : 'no answer');
    }
  }

  #enter(peer: PortPeer, state: PortState, waitMs: number): void {
    peer.state = state;
    peer.last = undefined;
    peer.dueMs = this.#nowMs + waitMs;
    this.#host.onChange(peer.index);
  }

  #send(destinationMac: Uint8Array, tags: number, eap: EapMessage): void {
    const { frames } = this.#host;
    const at = frames.begin(0, maxEapolBytes);
    if (at < 0) return;
    const { version, mac } = this.#options;
    const end = writeEapol(frames.memory, at, { version, kind: eapolKind.eap, eap });
    frames.send(at, end, eapolType, { path: 0, tags, sourceMac: mac, destinationMac });
    this.counters.sent++;
  }
}
