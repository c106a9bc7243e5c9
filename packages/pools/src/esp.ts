/** What one ESP transform (RFC 4303) adds to a packet, in bytes. */
export interface EspTransform {
  readonly ivBytes: number;
  /** Payload, padding and the two trailer bytes together are a multiple of this. */
  readonly alignBytes: number;
  /** Integrity check value. */
  readonly icvBytes: number;
}

const suite =
  /^(aes|camellia|3des|des|null|chacha20poly1305)(128|192|256)?(cbc|gcm|ccm|ctr|gmac)?(128|96|64|16|12|8)?(?:hmac)?(md5|sha1|sha2?256|sha2?384|sha2?512|sha|aesxcbc|aescmac)?/;

const icvOfHash: Readonly<Record<string, number>> = {
  md5: 12,
  sha: 12,
  sha1: 12,
  aesxcbc: 12,
  aescmac: 12,
  sha256: 16,
  sha2256: 16,
  sha384: 24,
  sha2384: 24,
  sha512: 32,
  sha2512: 32,
};

/**
 * A cipher without its own integrity and without a hash is taken with SHA-256, as ESP without integrity is unsafe.
 * Reads strongSwan proposals and common spellings: aes256gcm16, aes128-sha256, AES-256-CBC-HMAC-SHA1, null-sha256.
 */
export function findEspTransform(cipher: string): EspTransform | undefined {
  const [, name, , mode = 'cbc', icv, hash = 'sha256'] =
    suite.exec(cipher.toLowerCase().replace(/[^a-z0-9]/g, '')) ?? [];
  if (name === undefined) return undefined;
  const hashIcv = icvOfHash[hash] ?? 16;
  if (name === 'chacha20poly1305') return { ivBytes: 8, alignBytes: 4, icvBytes: 16 };
  if (name === 'null')
    return { ivBytes: mode === 'gmac' ? 8 : 0, alignBytes: 4, icvBytes: mode === 'gmac' ? 16 : hashIcv };
  if (name === '3des' || name === 'des') return { ivBytes: 8, alignBytes: 8, icvBytes: hashIcv };
  if (mode === 'cbc') return { ivBytes: 16, alignBytes: 16, icvBytes: hashIcv };
  if (mode === 'ctr') return { ivBytes: 8, alignBytes: 4, icvBytes: hashIcv };
  return { ivBytes: 8, alignBytes: 4, icvBytes: aeadIcv(icv) };
}

// The suffix counts bytes (gcm16) or bits (gcm128).
function aeadIcv(text: string | undefined): number {
  const size = Number(text ?? 16);
  return size > 16 ? size / 8 : size;
}
