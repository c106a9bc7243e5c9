import { groupId, type KeyExchange } from '@rushhour/wire';
import { scratch } from '../kernel/memory.ts';
import { type Evp, findEvp } from './evp.ts';

const maxBytes = 64;
// Layout of the scratch memory: length, value.
const at = { length: 0, value: 64 } as const;

/** Numbers that OpenSSL has for the types of keys. */
const curves: Readonly<Record<number, { readonly type: number; readonly bytes: number }>> = {
  [groupId.curve25519]: { type: 1034, bytes: 32 },
  [groupId.curve448]: { type: 1035, bytes: 56 },
};

/** Keys of exchanges that are never finished. */
const abandoned = new FinalizationRegistry<{ evp: Evp; key: number }>(({ evp, key }) => evp.EVP_PKEY_free(key));

class MontgomeryExchange implements KeyExchange {
  readonly publicValue: Uint8Array;
  readonly #evp: Evp;
  readonly #type: number;
  #key: number;

  constructor(evp: Evp, { type, secret }: { readonly type: number; readonly secret: Uint8Array }) {
    const memory = scratch();
    const [length, value] = [memory.addressOf(at.length, 8), memory.addressOf(at.value, maxBytes)];
    memory.bytes.set(secret, at.value);
    this.#evp = evp;
    this.#type = type;
    this.#key = evp.EVP_PKEY_new_raw_private_key(type, 0, value, secret.length);
    if (this.#key === 0) throw new RangeError('OpenSSL does not create the key of an exchange');
    abandoned.register(this, { evp, key: this.#key }, this);
    memory.bytes.writeBigUInt64LE(BigInt(maxBytes), at.length);
    evp.EVP_PKEY_get_raw_public_key(this.#key, value, length);
    this.publicValue = new Uint8Array(memory.bytes.subarray(at.value, at.value + secret.length));
  }

  derive(peerValue: Uint8Array): Uint8Array {
    const evp = this.#evp;
    const bytes = this.publicValue.length;
    if (peerValue.length !== bytes) throw new RangeError(`a value of the exchange has ${bytes} bytes`);
    if (this.#key === 0) throw new RangeError('the exchange is over');
    const memory = scratch();
    const [length, value] = [memory.addressOf(at.length, 8), memory.addressOf(at.value, maxBytes)];
    memory.bytes.set(peerValue, at.value);
    const peer = evp.EVP_PKEY_new_raw_public_key(this.#type, 0, value, bytes);
    const context = evp.EVP_PKEY_CTX_new(this.#key, 0);
    memory.bytes.writeBigUInt64LE(BigInt(maxBytes), at.length);
    const isDone =
      evp.EVP_PKEY_derive_init(context) === 1 &&
      evp.EVP_PKEY_derive_set_peer_ex(context, peer, 0) === 1 &&
      evp.EVP_PKEY_derive(context, value, length) === 1;
    const shared = new Uint8Array(memory.bytes.subarray(at.value, at.value + bytes));
    memory.bytes.fill(0, at.value, at.value + maxBytes);
    evp.EVP_PKEY_CTX_free(context);
    evp.EVP_PKEY_free(peer);
    this.#release();
    if (isDone) return shared;
    evp.ERR_clear_error();
    throw new RangeError('the value of the peer is not valid');
  }

  #release(): void {
    abandoned.unregister(this);
    this.#evp.EVP_PKEY_free(this.#key);
    this.#key = 0;
  }
}

/** Curve25519 or Curve448 by OpenSSL's own functions; undefined for other groups, or where it cannot be called. */
export const createEvpMontgomery = (group: number, random: (length: number) => Uint8Array): KeyExchange | undefined => {
  const curve = curves[group];
  const evp = curve && findEvp();
  if (curve === undefined || evp === undefined) return undefined;
  return new MontgomeryExchange(evp, { type: curve.type, secret: random(curve.bytes) });
};
