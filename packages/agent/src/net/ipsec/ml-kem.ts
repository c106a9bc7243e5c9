import { createPublicKey, decapsulate, encapsulate, generateKeyPairSync } from 'node:crypto';
import { groupId, type KeyExchange } from '@rushhour/wire';

interface Kind {
  readonly name: 'ml-kem-512' | 'ml-kem-768' | 'ml-kem-1024';
  readonly publicBytes: number;
  readonly ciphertextBytes: number;
  /** What precedes the key in its DER. */
  readonly head: Buffer;
}

const kindOf = (name: Kind['name'], id: number, [publicBytes, ciphertextBytes]: readonly [number, number]): Kind => {
  const length = (bytes: number) => (publicBytes + bytes).toString(16).padStart(4, '0');
  const head = Buffer.from(`3082${length(18)}300b06096086480165030404${`0${id}`}0382${length(1)}00`, 'hex');
  return { name, publicBytes, ciphertextBytes, head };
};

const kinds: Readonly<Record<number, Kind>> = {
  [groupId.mlkem512]: kindOf('ml-kem-512', 1, [800, 768]),
  [groupId.mlkem768]: kindOf('ml-kem-768', 2, [1184, 1088]),
  [groupId.mlkem1024]: kindOf('ml-kem-1024', 3, [1568, 1568]),
};

/** ML-KEM (FIPS 203) of an initiator, which sends its public key; undefined for other groups. */
export const createMlKem = (group: number): KeyExchange | undefined => {
  const kind = kinds[group];
  if (kind === undefined) return undefined;
  const { publicKey, privateKey } = generateKeyPairSync(kind.name as 'ml-kem-768');
  return {
    publicValue: Uint8Array.from(publicKey.export({ type: 'spki', format: 'der' }).subarray(kind.head.length)),
    derive(ciphertext) {
      if (ciphertext.length !== kind.ciphertextBytes) throw new RangeError(`${kind.name} answers with other lengths`);
      return decapsulate(privateKey, ciphertext);
    },
  };
};

/** The ciphertext and the secret for the public key of an initiator. */
export const encapsulateMlKem = (group: number, publicValue: Uint8Array) => {
  const kind = kinds[group];
  if (kind === undefined || publicValue.length !== kind.publicBytes) {
    throw new RangeError(`key exchange ${group} has no public key of ${publicValue.length} bytes`);
  }
  const der = Buffer.concat([kind.head, publicValue]);
  const { ciphertext, sharedKey } = encapsulate(createPublicKey({ key: der, format: 'der', type: 'spki' }));
  return { publicValue: new Uint8Array(ciphertext), shared: new Uint8Array(sharedKey) };
};
