export interface KeyPair {
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** ChaCha20-Poly1305 with one key. */
export interface Aead {
  /** Encrypts [start, end) of `bytes` in place and writes the tag of 16 bytes behind it. */
  seal(counter: number, bytes: Uint8Array, start: number, end: number, additional?: Uint8Array): void;
  /** Decrypts [start, end), whose last 16 bytes are the tag, in place. Returns false if it was changed on its way. */
  open(counter: number, bytes: Uint8Array, start: number, end: number, additional?: Uint8Array): boolean;
}

/** What WireGuard needs of a cryptographic library. BLAKE2s and HChaCha20 are our own. */
export interface WireGuardCrypto {
  random(length: number): Uint8Array;
  publicKeyOf(privateKey: Uint8Array): Uint8Array;
  /** X25519; undefined if the result is zero. */
  agree(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array | undefined;
  createAead(key: Uint8Array): Aead;
  /** ChaCha20-Poly1305 with a nonce of 12 bytes. `open` is undefined if the tag does not match. */
  sealWith(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, additional: Uint8Array): Uint8Array;
  openWith(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, additional: Uint8Array): Uint8Array | undefined;
}

const constants = Uint32Array.of(0x61707865, 0x3320646e, 0x79622d32, 0x6b206574);
const quarters = [
  ...[0, 4, 8, 12],
  ...[1, 5, 9, 13],
  ...[2, 6, 10, 14],
  ...[3, 7, 11, 15],
  ...[0, 5, 10, 15],
  ...[1, 6, 11, 12],
  ...[2, 7, 8, 13],
  ...[3, 4, 9, 14],
];

const rotateLeft = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/** The key of XChaCha20 for the first 16 bytes of a nonce of 24. */
const hchacha20 = (key: Uint8Array, nonce: Uint8Array): Uint8Array => {
  const x = new Uint32Array(16);
  const word = (bytes: Uint8Array, at: number) => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
  x.set(constants);
  for (let i = 0; i < 8; i++) x[4 + i] = word(key, i * 4);
  for (let i = 0; i < 4; i++) x[12 + i] = word(nonce, i * 4);
  const at = (index: number): number => x[index] as number;
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 8; i++) {
      const [a, b, c, d] = quarters.slice(i * 4, i * 4 + 4) as [number, number, number, number];
      for (const [left, right] of [
        [16, 12],
        [8, 7],
      ] as const) {
        x[a] = at(a) + at(b);
        x[d] = rotateLeft(at(d) ^ at(a), left);
        x[c] = at(c) + at(d);
        x[b] = rotateLeft(at(b) ^ at(c), right);
      }
    }
  }
  const out = new Uint8Array(32);
  const view = new DataView(out.buffer);
  for (let i = 0; i < 4; i++) {
    view.setUint32(i * 4, at(i), true);
    view.setUint32(16 + i * 4, at(12 + i), true);
  }
  return out;
};

const innerNonce = (nonce: Uint8Array): Uint8Array => {
  const inner = new Uint8Array(12);
  inner.set(nonce.subarray(16, 24), 4);
  return inner;
};

interface ExtendedNonce {
  readonly key: Uint8Array;
  /** 24 bytes. */
  readonly nonce: Uint8Array;
  readonly additional: Uint8Array;
}

export const xSeal = (crypto: WireGuardCrypto, plain: Uint8Array, { key, nonce, additional }: ExtendedNonce) =>
  crypto.sealWith(hchacha20(key, nonce), innerNonce(nonce), plain, additional);

export const xOpen = (crypto: WireGuardCrypto, sealed: Uint8Array, { key, nonce, additional }: ExtendedNonce) =>
  crypto.openWith(hchacha20(key, nonce), innerNonce(nonce), sealed, additional);
