import { copyOf, type Memory } from '../../bytes/memory.ts';
import { isSameMac, macBytes, vlanIds } from '../../ethernet/ethernet.ts';
import type { FrameWriter } from '../frames.ts';
import { readMac } from '../lines.ts';
import type { RadiusClient, RadiusOutcome } from '../radius/client.ts';
import { RadiusSessions, type RadiusSessionsOptions } from '../radius/sessions.ts';
import {
  type EapMessage,
  EapolFrame,
  eapCode,
  eapMethod,
  eapolBytes,
  eapolKind,
  eapolType,
  md5Bytes,
  md5Proof,
  noData,
  readEap,
  readMd5Value,
  writeEapol,
  writeMd5Value,
} from './eapol.ts';

export interface AuthenticatorOptions {
  readonly version: number;
  readonly mac: Uint8Array;
  readonly groupMac: Uint8Array;
  readonly decision: 'check' | 'accept' | 'reject' | 'radius';
  /** With the decision `radius`: a server talks to supplicants, by any method. */
  readonly radius?: Omit<RadiusSessionsOptions, 'isPpp'> | undefined;
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
  readonly radius?: RadiusClient | undefined;
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
  /** Questions that a RADIUS server was asked: answers to all but the last come too late. */
  questions: number;
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

/** The side of 802.1X that lets supplicants in, each by its MAC and VLAN. It checks passwords by EAP-MD5, or asks a RADIUS server. */
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
  readonly #radius: RadiusSessions | undefined;

  constructor(host: AuthenticatorHost, options: AuthenticatorOptions) {
    this.#host = host;
    this.#options = options;
    const { radius: client, random } = host;
    const usage = { rxPackets: 0, txPackets: 0, rxBytes: 0, txBytes: 0 };
    if (client !== undefined && options.radius !== undefined)
      this.#radius = new RadiusSessions(
        { client, random, lineOf: (index) => this.peers[index] as PortPeer, usageOf: () => usage },
        { ...options.radius, isPpp: false },
      );
  }

  /** Ends the accounts of all that are let in. */
  endAll(): void {
    for (const { index } of this.peers) this.#radius?.end(index, 'stopped');
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
    this.#radius?.advance(nowMs);
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
      ...{ attempts: 0, refusals: 0, lastError: '', id: 0, challenge: noData, sends: 0, questions: 0 },
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
    const { id, method, start, data, end } = this.#frame;
    if (peer.state === 'held') return;
    // The answer to the greeting at the start has no request of its own.
    const isGreeted = peer.state === 'ended' && method === eapMethod.identity && id === 0;
    if (isGreeted) peer.attempts++;
    else if (id !== peer.id || peer.last === undefined) return;
    if (method === eapMethod.identity) {
      peer.identity = decoder.decode(memory.bytes.subarray(data, end));
      this.#radius?.forget(peer.index);
    }
    if (this.#radius !== undefined) this.#askServer(peer, copyOf(memory.bytes, start, end), this.#radius);
    else if (method === eapMethod.identity) {
      peer.challenge = Uint8Array.from({ length: md5Bytes }, () => Math.floor(this.#host.random() * 256));
      this.#ask(peer, 'authenticating', eapMethod.md5, writeMd5Value(peer.challenge, serverName));
    } else if (method === eapMethod.md5 && peer.state === 'authenticating')
      this.#decide(peer, readMd5Value(memory, data, end));
    else if (method === eapMethod.nak) this.#refuse(peer, 'method not accepted');
  }

  /** Passes a message of a supplicant on, and the answer back. */
  #askServer(peer: PortPeer, packet: Uint8Array, radius: RadiusSessions): void {
    const question = ++peer.questions;
    this.#enter(peer, 'authenticating', never);
    radius.askEap(peer.index, peer.identity, packet, (outcome, answer) => {
      if (peer.questions === question && peer.state === 'authenticating') this.#onServer(peer, outcome, answer);
    });
  }

  #onServer(peer: PortPeer, outcome: RadiusOutcome, answer: Uint8Array): void {
    const eap = readEap(answer);
    if (outcome === 'challenge' && eap?.code === eapCode.request) {
      peer.id = eap.id;
      this.#request(peer, eap);
    } else if (outcome === 'accept') {
      peer.id = eap?.id ?? peer.id;
      this.#welcome(peer, this.#radius?.grantOf(peer.index)?.sessionMs ?? 0);
      this.#radius?.start(peer.index, 0);
    } else this.#refuse(peer, outcome === 'no answer' ? 'RADIUS: no answer' : 'refused by the RADIUS server');
  }

  #decide(peer: PortPeer, proof: Uint8Array | undefined): void {
    const { decision, rejectPct, passwordOf } = this.#options;
    const password = passwordOf(peer.identity);
    const right = password && md5Proof(peer.id, password, peer.challenge);
    const isRight = right !== undefined && proof?.length === md5Bytes && proof.every((byte, i) => byte === right[i]);
    if (decision === 'reject' || this.#host.random() * 100 < rejectPct) this.#refuse(peer, 'refused on purpose');
    else if (decision === 'check' && !isRight)
      this.#refuse(peer, password === undefined ? 'unknown user' : 'wrong password');
    else this.#welcome(peer, 0);
  }

  /** `sessionMs`: after this time it is asked again; 0: as the options say. */
  #welcome(peer: PortPeer, sessionMs: number): void {
    this.#send(peer.mac, peer.tags, { code: eapCode.success, id: peer.id, method: 0, data: noData });
    peer.lastError = '';
    peer.isOpen = true;
    this.#enter(peer, 'authorized', sessionMs || this.#options.reauthMs || never);
  }

  #refuse(peer: PortPeer, reason: string): void {
    this.#send(peer.mac, peer.tags, { code: eapCode.failure, id: peer.id, method: 0, data: noData });
    this.#radius?.end(peer.index, '802.1X: refused');
    peer.refusals++;
    peer.isOpen = false;
    peer.lastError = reason;
    this.#enter(peer, 'held', this.#options.quietMs);
  }

  #end(peer: PortPeer, reason: string): void {
    this.#radius?.end(peer.index, reason === '' ? 'logoff' : '802.1X: no answer');
    peer.lastError = reason;
    peer.isOpen = false;
    this.#enter(peer, 'ended', never);
  }

  /** A supplicant that is let in stays so while it is asked again. */
  #ask(peer: PortPeer, state: PortState, method: number, data: Uint8Array): void {
    peer.id = (peer.id + 1) & 255;
    peer.state = state;
    this.#request(peer, { code: eapCode.request, id: peer.id, method, data });
  }

  /** Sends a request, again and again until it is answered. */
  #request(peer: PortPeer, eap: EapMessage): void {
    this.#enter(peer, peer.state, this.#options.answerMs);
    peer.last = eap;
    peer.sends = 1;
    this.#send(peer.mac, peer.tags, eap);
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
    const at = frames.begin(0, eapolBytes(eap));
    if (at < 0) return;
    const { version, mac } = this.#options;
    const end = writeEapol(frames.memory, at, { version, kind: eapolKind.eap, eap });
    frames.send(at, end, eapolType, { path: 0, tags, sourceMac: mac, destinationMac });
    this.counters.sent++;
  }
}
