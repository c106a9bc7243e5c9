import { blake2s } from './blake2s.ts';
import { type KeyPair, type WireGuardCrypto, xOpen, xSeal } from './crypto.ts';
import {
  cookieLabel,
  createResponse,
  hasMac1,
  hasMac2,
  messageBytes,
  messageType,
  readInitiation,
  writeMacs,
} from './handshake.ts';
import { type PeerContext, type PeerOptions, WireGuardPeer } from './peer.ts';
import { Session } from './session.ts';

export const dataHeaderBytes = 16;
export const tagBytes = 16;
const cookieLifeMs = 120_000;
const timersEveryMs = 100;

export interface DeviceOptions {
  readonly crypto: WireGuardCrypto;
  readonly privateKey: Uint8Array;
  readonly nowMs: number;
  readonly wallMs: () => number;
  /** Handshakes a second above which senders have to prove their address. */
  readonly maxHandshakesPerSecond?: number;
  /** Sends a message to where the peer was last heard from, or to `endpoint`. */
  readonly transmit: (endpoint: Int32Array, path: number, message: Uint8Array) => void;
  readonly sendKeepalive: (peer: WireGuardPeer) => void;
  readonly onSession?: (peer: WireGuardPeer, setupMs: number) => void;
}

const keyText = (key: Uint8Array): string => String.fromCharCode(...key);

/** A WireGuard interface (https://www.wireguard.com/papers/wireguard.pdf): one key, many peers. */
export class WireGuardDevice implements PeerContext {
  readonly crypto: WireGuardCrypto;
  readonly own: KeyPair;
  nowMs: number;
  readonly counters = { failed: 0, handshakes: 0, cookiesSent: 0, invalid: 0, replayed: 0, unknownPeers: 0 };
  readonly peers: WireGuardPeer[] = [];
  readonly #options: DeviceOptions;
  readonly #byKey = new Map<string, WireGuardPeer>();
  readonly #byIndex = new Map<number, WireGuardPeer>();
  readonly #cookieKey: Uint8Array;
  #cookieSecret = new Uint8Array(0);
  #cookieUntilMs = 0;
  #second = 0;
  #handshakesThisSecond = 0;
  #nextTimersMs = 0;

  constructor(options: DeviceOptions) {
    const { crypto, privateKey } = options;
    this.#options = options;
    this.crypto = crypto;
    this.own = { privateKey, publicKey: crypto.publicKeyOf(privateKey) };
    this.nowMs = options.nowMs;
    this.#cookieKey = blake2s([cookieLabel, this.own.publicKey]);
  }

  addPeer(options: PeerOptions): WireGuardPeer {
    const peer = new WireGuardPeer(this, options);
    this.peers.push(peer);
    this.#byKey.set(keyText(options.keys.publicKey), peer);
    return peer;
  }

  advance(nowMs: number): void {
    this.nowMs = nowMs;
    if (nowMs < this.#nextTimersMs) return;
    this.#nextTimersMs = nowMs + timersEveryMs;
    for (const peer of this.peers) peer.advance();
  }

  /**
   * Handles a message from `endpoint` (9 words). Returns the peer and the plain packet [start, end) of data, which is
   * decrypted in place; undefined for everything else.
   */
  receive(
    endpoint: Int32Array,
    path: number,
    message: Uint8Array,
  ): { readonly peer: WireGuardPeer; readonly start: number; readonly end: number } | undefined {
    const type = message[0];
    if (type === messageType.data) return this.#receiveData(endpoint, message);
    if (type === messageType.initiation && message.length === messageBytes.initiation)
      this.#receiveInitiation(endpoint, path, message);
    else if (type === messageType.response && message.length === messageBytes.response)
      this.#receiveResponse(endpoint, message);
    else if (type === messageType.cookie && message.length === messageBytes.cookie) this.#receiveCookie(message);
    else this.counters.invalid++;
    return undefined;
  }

  wallMs(): number {
    return this.#options.wallMs();
  }

  newIndex(peer: WireGuardPeer): number {
    for (;;) {
      const bytes = this.crypto.random(4);
      const index = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
      if (this.#byIndex.has(index)) continue;
      this.#byIndex.set(index, peer);
      return index;
    }
  }

  dropIndex(index: number): void {
    this.#byIndex.delete(index);
  }

  transmit(peer: WireGuardPeer, message: Uint8Array): void {
    this.#options.transmit(peer.endpoint, peer.path, message);
  }

  sendKeepalive(peer: WireGuardPeer): void {
    this.#options.sendKeepalive(peer);
  }

  onSession(peer: WireGuardPeer, setupMs: number): void {
    this.counters.handshakes++;
    this.#options.onSession?.(peer, setupMs);
  }

  onHandshakeFailed(): void {
    this.counters.failed++;
  }

  #receiveData(endpoint: Int32Array, message: Uint8Array) {
    if (message.length < dataHeaderBytes + tagBytes) return this.#refuse('invalid');
    const view = new DataView(message.buffer, message.byteOffset);
    const index = view.getUint32(4, true);
    const peer = this.#byIndex.get(index);
    const session = [peer?.current, peer?.next, peer?.previous].find((one) => one?.localIndex === index);
    if (peer === undefined || session === undefined) return this.#refuse('unknownPeers');
    const counter = view.getUint32(8, true) + view.getUint32(12, true) * 2 ** 32;
    if (!session.open(counter, message, dataHeaderBytes, message.length)) return this.#refuse('replayed');
    const end = message.length - tagBytes;
    this.#roam(peer, endpoint);
    peer.noteReceived(session, end > dataHeaderBytes);
    return { peer, start: dataHeaderBytes, end };
  }

  #receiveInitiation(endpoint: Int32Array, path: number, message: Uint8Array): void {
    if (!hasMac1(message, this.own.publicKey)) return void this.#refuse('invalid');
    if (this.#isBusy() && !hasMac2(message, this.#cookieOf(endpoint))) {
      this.#sendCookie(endpoint, path, message);
      return;
    }
    const state = readInitiation(this.crypto, message, this.own);
    const peer = state && this.#byKey.get(keyText(state.remoteStatic));
    if (state === undefined || peer === undefined) return void this.#refuse('unknownPeers');
    if (compare(state.timestamp, peer.latestTimestamp) <= 0) return void this.#refuse('replayed');
    peer.latestTimestamp = Uint8Array.from(state.timestamp);
    this.#roam(peer, endpoint);
    const index = this.newIndex(peer);
    const { presharedKey } = peer.keys;
    const { message: response, keys } = createResponse(this.crypto, state, { presharedKey, index });
    writeMacs(response, peer.keys.publicKey, undefined);
    const facts = { localIndex: index, remoteIndex: state.remoteIndex, isInitiator: false, createdMs: this.nowMs };
    peer.prepareNext(new Session(this.crypto, keys, facts));
    this.transmit(peer, response);
  }

  #receiveResponse(endpoint: Int32Array, message: Uint8Array): void {
    const index = new DataView(message.buffer, message.byteOffset).getUint32(8, true);
    const peer = this.#byIndex.get(index);
    if (!hasMac1(message, this.own.publicKey) || peer === undefined) return void this.#refuse('invalid');
    if (peer.receiveResponse(message, index)) this.#roam(peer, endpoint);
    else this.#refuse('invalid');
  }

  #receiveCookie(message: Uint8Array): void {
    const peer = this.#byIndex.get(new DataView(message.buffer, message.byteOffset).getUint32(4, true));
    if (peer?.lastMac1 === undefined) return void this.#refuse('unknownPeers');
    const key = blake2s([cookieLabel, peer.keys.publicKey]);
    const nonce = message.slice(8, 32);
    const cookie = xOpen(this.crypto, message.slice(32, 64), { key, nonce, additional: peer.lastMac1 });
    if (cookie === undefined) this.#refuse('invalid');
    else peer.setCookie(cookie);
  }

  #sendCookie(endpoint: Int32Array, path: number, message: Uint8Array): void {
    const reply = new Uint8Array(messageBytes.cookie);
    const nonce = this.crypto.random(24);
    reply[0] = messageType.cookie;
    reply.set(message.subarray(4, 8), 4);
    reply.set(nonce, 8);
    const additional = message.slice(-32, -16);
    reply.set(xSeal(this.crypto, this.#cookieOf(endpoint), { key: this.#cookieKey, nonce, additional }), 32);
    this.counters.cookiesSent++;
    this.#options.transmit(endpoint, path, reply);
  }

  /** Depends on the remote address and port only. */
  #cookieOf(endpoint: Int32Array): Uint8Array {
    if (this.nowMs >= this.#cookieUntilMs) {
      this.#cookieSecret = Uint8Array.from(this.crypto.random(32));
      this.#cookieUntilMs = this.nowMs + cookieLifeMs;
    }
    const remote = Int32Array.of(...endpoint.subarray(4, 8), (endpoint[8] as number) & 0xffff);
    return blake2s([new Uint8Array(remote.buffer)], { key: this.#cookieSecret, length: 16 });
  }

  #isBusy(): boolean {
    const second = Math.floor(this.nowMs / 1000);
    if (second !== this.#second) [this.#second, this.#handshakesThisSecond] = [second, 0];
    return ++this.#handshakesThisSecond > (this.#options.maxHandshakesPerSecond ?? Number.POSITIVE_INFINITY);
  }

  /** An authentic packet says where its sender is now. */
  #roam(peer: WireGuardPeer, endpoint: Int32Array): void {
    for (let i = 4; i < 8; i++) peer.endpoint[i] = endpoint[i] as number;
    peer.endpoint[8] = ((peer.endpoint[8] as number) & 0xffff0000) | ((endpoint[8] as number) & 0xffff);
  }

  #refuse(reason: 'invalid' | 'replayed' | 'unknownPeers'): undefined {
    this.counters[reason]++;
    return undefined;
  }
}

const compare = (a: Uint8Array, b: Uint8Array): number => {
  const at = a.findIndex((byte, i) => byte !== b[i]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
};
