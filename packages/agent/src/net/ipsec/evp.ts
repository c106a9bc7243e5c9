import { createRequire } from 'node:module';
import { findLibc } from '../kernel/libc.ts';

// OpenSSL as the Node binary exports it: no library is needed. Addresses are plain numbers.
const declarations = {
  OpenSSL_version_num: 'ulong OpenSSL_version_num()',
  ERR_clear_error: 'void ERR_clear_error()',
  EVP_CIPHER_CTX_new: 'uintptr_t EVP_CIPHER_CTX_new()',
  EVP_CIPHER_CTX_free: 'void EVP_CIPHER_CTX_free(uintptr_t context)',
  EVP_CIPHER_CTX_get_params: 'int EVP_CIPHER_CTX_get_params(uintptr_t context, uintptr_t params)',
  EVP_CipherInit_ex2:
    'int EVP_CipherInit_ex2(uintptr_t context, uintptr_t cipher, uintptr_t key, uintptr_t iv, int encrypts, uintptr_t params)',
  EVP_Cipher: 'int EVP_Cipher(uintptr_t context, uintptr_t output, uintptr_t input, uint length)',
  EVP_aes_128_gcm: 'uintptr_t EVP_aes_128_gcm()',
  EVP_aes_192_gcm: 'uintptr_t EVP_aes_192_gcm()',
  EVP_aes_256_gcm: 'uintptr_t EVP_aes_256_gcm()',
  EVP_chacha20_poly1305: 'uintptr_t EVP_chacha20_poly1305()',
  EVP_sha1: 'uintptr_t EVP_sha1()',
  EVP_sha256: 'uintptr_t EVP_sha256()',
  EVP_sha384: 'uintptr_t EVP_sha384()',
  EVP_sha512: 'uintptr_t EVP_sha512()',
  EVP_Digest:
    'int EVP_Digest(uintptr_t data, size_t length, uintptr_t output, uintptr_t written, uintptr_t type, uintptr_t engine)',
  HMAC_CTX_new: 'uintptr_t HMAC_CTX_new()',
  HMAC_Init_ex: 'int HMAC_Init_ex(uintptr_t context, uintptr_t key, int length, uintptr_t type, uintptr_t engine)',
  HMAC_Update: 'int HMAC_Update(uintptr_t context, uintptr_t data, size_t length)',
  HMAC_Final: 'int HMAC_Final(uintptr_t context, uintptr_t output, uintptr_t written)',
  EVP_PKEY_new_raw_private_key:
    'uintptr_t EVP_PKEY_new_raw_private_key(int type, uintptr_t engine, uintptr_t key, size_t length)',
  EVP_PKEY_new_raw_public_key:
    'uintptr_t EVP_PKEY_new_raw_public_key(int type, uintptr_t engine, uintptr_t key, size_t length)',
  EVP_PKEY_get_raw_public_key: 'int EVP_PKEY_get_raw_public_key(uintptr_t key, uintptr_t output, uintptr_t length)',
  EVP_PKEY_free: 'void EVP_PKEY_free(uintptr_t key)',
  EVP_PKEY_CTX_new: 'uintptr_t EVP_PKEY_CTX_new(uintptr_t key, uintptr_t engine)',
  EVP_PKEY_CTX_free: 'void EVP_PKEY_CTX_free(uintptr_t context)',
  EVP_PKEY_derive_init: 'int EVP_PKEY_derive_init(uintptr_t context)',
  EVP_PKEY_derive_set_peer_ex: 'int EVP_PKEY_derive_set_peer_ex(uintptr_t context, uintptr_t peer, int validates)',
  EVP_PKEY_derive: 'int EVP_PKEY_derive(uintptr_t context, uintptr_t output, uintptr_t length)',
} as const;

export type Evp = { readonly [Name in keyof typeof declarations]: (...args: number[]) => number };

const firstVersion = 0x30000000;

interface Koffi {
  load(path: null): { func(declaration: string): (...args: number[]) => number };
}

const load = (): Evp | undefined => {
  if ('reason' in findLibc()) return undefined;
  try {
    // Not a static import: the agent has to start where koffi does not load.
    const library = (createRequire(import.meta.url)('koffi') as Koffi).load(null);
    const evp = Object.fromEntries(
      Object.entries(declarations).map(([name, declaration]) => [name, library.func(declaration)]),
    ) as Evp;
    return Number(evp.OpenSSL_version_num()) >= firstVersion ? evp : undefined;
  } catch {
    return undefined;
  }
};

let loaded: { readonly evp: Evp | undefined } | undefined;

/** OpenSSL's ciphers; undefined where they cannot be called directly. */
export const findEvp = (): Evp | undefined => {
  loaded ??= { evp: load() };
  return loaded.evp;
};
