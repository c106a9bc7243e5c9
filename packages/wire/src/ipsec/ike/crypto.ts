/** Where a packet lies and which parts of it are protected. */
export interface PacketRange {
  /** First authenticated byte. */
  start: number;
  /** The IV; the text follows it, and everything from `start` to here is authenticated only. */
  ivAt: number;
  /** End of the text; the integrity check value follows it. */
  textEnd: number;
  /** Upper half of an extended sequence number, which is authenticated but not sent; -1: there is none. */
  high: number;
}

/** Encryption and integrity of packets with one key, in place. */
export interface PacketCipher {
  readonly ivBytes: number;
  readonly icvBytes: number;
  /** The text is a multiple of so many bytes. */
  readonly blockBytes: number;
  /** Writes IV, encrypted text and integrity check value. */
  seal(bytes: Uint8Array, range: PacketRange): void;
  /** Decrypts the text. Returns false, with the text undefined, if the integrity check fails. */
  open(bytes: Uint8Array, range: PacketRange): boolean;
}

export interface CipherSpec {
  readonly encryption: number;
  readonly keyBits: number;
  /** 0 for ciphers that protect integrity themselves. */
  readonly integrity: number;
}

export interface CipherKeys {
  /** With the salt of counter modes at its end. */
  readonly encryption: Uint8Array;
  readonly integrity: Uint8Array;
}

/** One Diffie-Hellman exchange. */
export interface KeyExchange {
  readonly publicValue: Uint8Array;
  /** The shared secret; throws when the value of the peer is not valid. */
  derive(peerValue: Uint8Array): Uint8Array;
}

/** Cryptography that IKE and ESP are given. Algorithms are numbers of the IKEv2 registry. */
export interface IpsecCrypto {
  random(length: number): Uint8Array;
  sha1(data: Uint8Array): Uint8Array;
  /** The pseudo-random function with this number. */
  prf(id: number, key: Uint8Array, data: Uint8Array): Uint8Array;
  createCipher(spec: CipherSpec, keys: CipherKeys): PacketCipher;
  createKeyExchange(group: number): KeyExchange;
  /** The answer to a public key of a key encapsulation mechanism; throws when it is not valid. */
  encapsulate(group: number, publicKey: Uint8Array): { readonly publicValue: Uint8Array; readonly shared: Uint8Array };
}

/** Checks the certificates of peers. */
export interface PeerCheck {
  /** SHA-1 of the public keys of trusted authorities. */
  readonly authorities: readonly Uint8Array[];
  /** Why a peer is not trusted; undefined: it is. */
  findProblem(proof: {
    readonly certificates: readonly Uint8Array[];
    readonly octets: Uint8Array;
    readonly method: number;
    readonly data: Uint8Array;
  }): string | undefined;
}

/** Authenticates this side by a certificate. */
export interface Credential extends PeerCheck {
  /** Certificates in DER, the own one first. */
  readonly chain: readonly Uint8Array[];
  /** Subject of the own certificate in DER. */
  readonly subject: Uint8Array;
  /** `hashes`: what the peer supports in digital signatures (RFC 7427); undefined: it has none of these. */
  sign(octets: Uint8Array, hashes: readonly number[] | undefined): { method: number; data: Uint8Array };
}
