import type { CipherKeys, IpsecCrypto } from './crypto.ts';
import { encryptionKeyBytes, integrityKeyBytes, prfBytes } from './messages/algorithms.ts';
import { concatBytes } from './messages/message.ts';
import type { Suite } from './messages/suites.ts';

/** prf+ (RFC 7296, 2.13). */
const expand = (crypto: IpsecCrypto, prf: number, key: Uint8Array, seed: Uint8Array, length: number): Uint8Array => {
  const size = prfBytes(prf);
  const output = new Uint8Array(Math.ceil(length / size) * size);
  // The block before, the seed and a number. Nothing comes before the first block.
  const text = new Uint8Array(size + seed.length + 1);
  text.set(seed, size);
  const first = text.subarray(size);
  for (let i = 1, at = 0; at < length; i++, at += size) {
    text[text.length - 1] = i;
    const block = crypto.prf(prf, key, i === 1 ? first : text);
    output.set(block, at);
    text.set(block);
  }
  return output;
};

const noKey = new Uint8Array(0);

/** Cuts consecutive pieces off one array. */
const cutter = (bytes: Uint8Array) => {
  let at = 0;
  return (length: number): Uint8Array => {
    if (length === 0) return noKey;
    at += length;
    return bytes.slice(at - length, at);
  };
};

export interface Nonces {
  readonly initiator: Uint8Array;
  readonly responder: Uint8Array;
}

export interface IkeKeys {
  readonly derivation: Uint8Array;
  readonly initiator: CipherKeys;
  readonly responder: CipherKeys;
  readonly authentication: { readonly initiator: Uint8Array; readonly responder: Uint8Array };
}

export interface IkeKeyInput {
  readonly suite: Suite;
  readonly nonces: Nonces;
  readonly shared: Uint8Array;
  readonly initiatorSpi: Uint8Array;
  readonly responderSpi: Uint8Array;
  /** Of a rekeyed SA: the one it replaces. */
  readonly previous?: { readonly prf: number; readonly derivation: Uint8Array } | undefined;
}

export const deriveIkeKeys = (crypto: IpsecCrypto, input: IkeKeyInput): IkeKeys => {
  const { suite, nonces, shared, previous } = input;
  const both = concatBytes(nonces.initiator, nonces.responder);
  const seed =
    previous === undefined
      ? crypto.prf(suite.prf, both, shared)
      : crypto.prf(previous.prf, previous.derivation, concatBytes(shared, both));
  const [prfSize, integritySize] = [prfBytes(suite.prf), integrityKeyBytes(suite.integrity)];
  const encryptionSize = encryptionKeyBytes(suite);
  const length = 3 * prfSize + 2 * integritySize + 2 * encryptionSize;
  const text = concatBytes(both, input.initiatorSpi, input.responderSpi);
  const take = cutter(expand(crypto, suite.prf, seed, text, length));
  const derivation = take(prfSize);
  const [integrityI, integrityR] = [take(integritySize), take(integritySize)];
  const [encryptionI, encryptionR] = [take(encryptionSize), take(encryptionSize)];
  return {
    derivation,
    initiator: { encryption: encryptionI, integrity: integrityI },
    responder: { encryption: encryptionR, integrity: integrityR },
    authentication: { initiator: take(prfSize), responder: take(prfSize) },
  };
};

export interface ChildKeys {
  readonly initiator: CipherKeys;
  readonly responder: CipherKeys;
}

export interface ChildKeyInput {
  readonly suite: Suite;
  /** Of the IKE SA. */
  readonly prf: number;
  readonly derivation: Uint8Array;
  readonly nonces: Nonces;
  /** Of a key exchange of its own. */
  readonly shared?: Uint8Array | undefined;
}

export const deriveChildKeys = (crypto: IpsecCrypto, input: ChildKeyInput): ChildKeys => {
  const { suite, prf, derivation, nonces, shared = new Uint8Array(0) } = input;
  const [encryptionSize, integritySize] = [encryptionKeyBytes(suite), integrityKeyBytes(suite.integrity)];
  const seed = concatBytes(shared, nonces.initiator, nonces.responder);
  const take = cutter(expand(crypto, prf, derivation, seed, 2 * (encryptionSize + integritySize)));
  const keysOf = (): CipherKeys => ({ encryption: take(encryptionSize), integrity: take(integritySize) });
  return { initiator: keysOf(), responder: keysOf() };
};

const keyPad = new TextEncoder().encode('Key Pad for IKEv2');

/** The same for all SAs to a peer: by its key and the pseudo-random function. */
const paddedKeys = new WeakMap<Uint8Array, Map<number, Uint8Array>>();

const paddedKey = (crypto: IpsecCrypto, prf: number, key: Uint8Array): Uint8Array => {
  const ofKey = paddedKeys.get(key) ?? new Map<number, Uint8Array>();
  paddedKeys.set(key, ofKey);
  const padded = ofKey.get(prf) ?? crypto.prf(prf, key, keyPad);
  ofKey.set(prf, padded);
  return padded;
};

/** AUTH data of a pre-shared key (RFC 7296, 2.15). */
export const sharedKeyAuth = (
  crypto: IpsecCrypto,
  { prf, key, octets }: { readonly prf: number; readonly key: Uint8Array; readonly octets: Uint8Array },
): Uint8Array => crypto.prf(prf, paddedKey(crypto, prf, key), octets);
