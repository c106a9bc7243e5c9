import { blake2s, deriveKeys } from './blake2s.ts';
import type { KeyPair, WireGuardCrypto } from './crypto.ts';

export const messageType = { initiation: 1, response: 2, cookie: 3, data: 4 } as const;
export const messageBytes = { initiation: 148, response: 92, cookie: 64 } as const;

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const noNonce = new Uint8Array(12);
const nothing = new Uint8Array(0);

const firstChaining = blake2s([text('Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s')]);
const firstHash = blake2s([firstChaining, text('WireGuard v1 zx2c4 Jason@zx2c4.com')]);

/** The other side of a tunnel, as far as the handshake needs it. */
export interface PeerKeys {
  readonly publicKey: Uint8Array;
  readonly presharedKey: Uint8Array;
}

/** Keys of the two directions. */
export interface TransportKeys {
  readonly send: Uint8Array;
  readonly receive: Uint8Array;
}

/** A handshake under way (Noise IKpsk2, section 5.4 of the paper). */
export interface HandshakeState {
  readonly chaining: Uint8Array;
  readonly hash: Uint8Array;
  readonly ephemeral: KeyPair;
  readonly remoteEphemeral: Uint8Array;
  readonly remoteStatic: Uint8Array;
  /** Index that the initiator has chosen. */
  readonly remoteIndex: number;
  readonly timestamp: Uint8Array;
}

class Transcript {
  chaining = firstChaining;
  hash = firstHash;
  readonly #crypto: WireGuardCrypto;

  constructor(crypto: WireGuardCrypto, from?: Pick<HandshakeState, 'chaining' | 'hash'>) {
    this.#crypto = crypto;
    if (from !== undefined) {
      this.chaining = from.chaining;
      this.hash = from.hash;
    }
  }

  mixHash(bytes: Uint8Array): void {
    this.hash = blake2s([this.hash, bytes]);
  }

  mixKey(input: Uint8Array): void {
    this.chaining = deriveKeys(this.chaining, input, 1)[0] as Uint8Array;
  }

  /** Mixes the input and returns a key. */
  keyFrom(input: Uint8Array): Uint8Array {
    const [chaining, key] = deriveKeys(this.chaining, input, 2) as [Uint8Array, Uint8Array];
    this.chaining = chaining;
    return key;
  }

  /** Mixes a preshared key and returns a key. */
  keyFromShared(shared: Uint8Array): Uint8Array {
    const [chaining, hash, key] = deriveKeys(this.chaining, shared, 3) as [Uint8Array, Uint8Array, Uint8Array];
    this.chaining = chaining;
    this.mixHash(hash);
    return key;
  }

  seal(key: Uint8Array, plain: Uint8Array): Uint8Array {
    const sealed = this.#crypto.sealWith(key, noNonce, plain, this.hash);
    this.mixHash(sealed);
    return sealed;
  }

  open(key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
    const plain = this.#crypto.openWith(key, noNonce, sealed, this.hash);
    this.mixHash(sealed);
    return plain;
  }
}

const mac1Label = text('mac1----');
export const cookieLabel = text('cookie--');

/** Writes mac1, and mac2 where there is a cookie, into the last 32 bytes. */
export const writeMacs = (message: Uint8Array, peerKey: Uint8Array, cookie: Uint8Array | undefined): void => {
  const at = message.length - 32;
  const key = blake2s([mac1Label, peerKey]);
  message.set(blake2s([message.subarray(0, at)], { key, length: 16 }), at);
  if (cookie !== undefined) message.set(blake2s([message.subarray(0, at + 16)], { key: cookie, length: 16 }), at + 16);
};

export const hasMac1 = (message: Uint8Array, ownKey: Uint8Array): boolean => {
  const at = message.length - 32;
  const expected = blake2s([message.subarray(0, at)], { key: blake2s([mac1Label, ownKey]), length: 16 });
  return isEqual(expected, message.subarray(at, at + 16));
};

export const hasMac2 = (message: Uint8Array, cookie: Uint8Array): boolean => {
  const at = message.length - 16;
  return isEqual(blake2s([message.subarray(0, at)], { key: cookie, length: 16 }), message.subarray(at));
};

export const isEqual = (a: Uint8Array, b: Uint8Array): boolean => {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= (a[i] as number) ^ (b[i] as number);
  return difference === 0;
};

const newEphemeral = (crypto: WireGuardCrypto): KeyPair => {
  const privateKey = crypto.random(32);
  return { privateKey, publicKey: crypto.publicKeyOf(privateKey) };
};

const agreed = (crypto: WireGuardCrypto, privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array => {
  const shared = crypto.agree(privateKey, publicKey);
  if (shared === undefined) throw new RangeError('the public key of the peer has no agreement');
  return shared;
};

interface InitiationOptions {
  readonly own: KeyPair;
  readonly peer: PeerKeys;
  readonly index: number;
  /** TAI64N, 12 bytes that only grow. */
  readonly timestamp: Uint8Array;
}

/** The first message, without its MACs. */
export const createInitiation = (
  crypto: WireGuardCrypto,
  { own, peer, index, timestamp }: InitiationOptions,
): { message: Uint8Array; state: HandshakeState } => {
  const transcript = new Transcript(crypto);
  const ephemeral = newEphemeral(crypto);
  const message = new Uint8Array(messageBytes.initiation);
  transcript.mixHash(peer.publicKey);
  transcript.mixKey(ephemeral.publicKey);
  transcript.mixHash(ephemeral.publicKey);
  message[0] = messageType.initiation;
  new DataView(message.buffer).setUint32(4, index, true);
  message.set(ephemeral.publicKey, 8);
  const staticKey = transcript.keyFrom(agreed(crypto, ephemeral.privateKey, peer.publicKey));
  message.set(transcript.seal(staticKey, own.publicKey), 40);
  const timeKey = transcript.keyFrom(agreed(crypto, own.privateKey, peer.publicKey));
  message.set(transcript.seal(timeKey, timestamp), 88);
  const { chaining, hash } = transcript;
  const state = {
    chaining,
    hash,
    ephemeral,
    remoteEphemeral: nothing,
    remoteStatic: peer.publicKey,
    remoteIndex: 0,
    timestamp,
  };
  return { message, state };
};

/** Reads the first message; undefined if it is not for this key. The peer is known from its static key. */
export const readInitiation = (
  crypto: WireGuardCrypto,
  message: Uint8Array,
  own: KeyPair,
): HandshakeState | undefined => {
  const transcript = new Transcript(crypto);
  const remoteEphemeral = message.slice(8, 40);
  transcript.mixHash(own.publicKey);
  transcript.mixKey(remoteEphemeral);
  transcript.mixHash(remoteEphemeral);
  const first = crypto.agree(own.privateKey, remoteEphemeral);
  const remoteStatic = first && transcript.open(transcript.keyFrom(first), message.slice(40, 88));
  const second = remoteStatic && crypto.agree(own.privateKey, remoteStatic);
  const timestamp = second && transcript.open(transcript.keyFrom(second), message.slice(88, 116));
  if (remoteStatic === undefined || timestamp === undefined) return undefined;
  const { chaining, hash } = transcript;
  const remoteIndex = new DataView(message.buffer, message.byteOffset).getUint32(4, true);
  return { chaining, hash, ephemeral: own, remoteEphemeral, remoteStatic, remoteIndex, timestamp };
};

/** The second message, without its MACs, and the keys of the responder. */
export const createResponse = (
  crypto: WireGuardCrypto,
  state: HandshakeState,
  { presharedKey, index }: { presharedKey: Uint8Array; index: number },
): { message: Uint8Array; keys: TransportKeys } => {
  const transcript = new Transcript(crypto, state);
  const ephemeral = newEphemeral(crypto);
  const message = new Uint8Array(messageBytes.response);
  const view = new DataView(message.buffer);
  message[0] = messageType.response;
  view.setUint32(4, index, true);
  view.setUint32(8, state.remoteIndex, true);
  message.set(ephemeral.publicKey, 12);
  transcript.mixKey(ephemeral.publicKey);
  transcript.mixHash(ephemeral.publicKey);
  transcript.mixKey(agreed(crypto, ephemeral.privateKey, state.remoteEphemeral));
  transcript.mixKey(agreed(crypto, ephemeral.privateKey, state.remoteStatic));
  message.set(transcript.seal(transcript.keyFromShared(presharedKey), nothing), 44);
  const [receive, send] = deriveKeys(transcript.chaining, nothing, 2) as [Uint8Array, Uint8Array];
  return { message, keys: { send, receive } };
};

/** Reads the second message; undefined if it does not answer the first. */
export const readResponse = (
  crypto: WireGuardCrypto,
  message: Uint8Array,
  { state, own, presharedKey }: { state: HandshakeState; own: KeyPair; presharedKey: Uint8Array },
): TransportKeys | undefined => {
  const transcript = new Transcript(crypto, state);
  const remoteEphemeral = message.slice(12, 44);
  transcript.mixKey(remoteEphemeral);
  transcript.mixHash(remoteEphemeral);
  const first = crypto.agree(state.ephemeral.privateKey, remoteEphemeral);
  const second = crypto.agree(own.privateKey, remoteEphemeral);
  if (first === undefined || second === undefined) return undefined;
  transcript.mixKey(first);
  transcript.mixKey(second);
  const key = transcript.keyFromShared(presharedKey);
  if (transcript.open(key, message.slice(44, 60)) === undefined) return undefined;
  const [send, receive] = deriveKeys(transcript.chaining, nothing, 2) as [Uint8Array, Uint8Array];
  return { send, receive };
};
