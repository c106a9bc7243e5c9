import { pduType, type ReceivedPdu, type Tlv, tlvType, valuesOf } from './pdu.ts';

/** TLV 10 of every PDU (RFC 5304, RFC 5310). */
export type IsisAuthentication =
  | { readonly kind: 'none' }
  | { readonly kind: 'simple'; readonly key: Uint8Array }
  | {
      readonly kind: 'digest';
      /** What is before the digest: the kind of authentication, and the number of the key where there is one. */
      readonly prefix: Uint8Array;
      readonly length: number;
      digest(pdu: Uint8Array): Uint8Array;
      /** What stands in the place of the digest while it is computed. */
      readonly filler: Uint8Array;
    };

const simple = 1;
const headerOfTlv = 2;
const lspFields = { lifetime: 10, checksum: 24 } as const;

/** The TLV to begin with; its digest is not written yet. */
export const authenticationTlvs = (authentication: IsisAuthentication): Tlv[] => {
  if (authentication.kind === 'none') return [];
  if (authentication.kind === 'simple')
    return [{ type: tlvType.authentication, value: Uint8Array.of(simple, ...authentication.key) }];
  const { prefix, filler } = authentication;
  return [{ type: tlvType.authentication, value: Uint8Array.of(...prefix, ...filler) }];
};

/** The PDU as the digest is computed of it: without lifetime, checksum and digest. */
const coveredOf = (pdu: Uint8Array, digestAt: number, filler: Uint8Array): Uint8Array => {
  const covered = pdu.slice();
  covered.set(filler, digestAt);
  const type = (pdu[4] as number) & 0x1f;
  if (type === pduType.lsp1 || type === pduType.lsp2)
    for (const at of Object.values(lspFields)) covered.fill(0, at, at + 2);
  return covered;
};

/** Writes the digest into a PDU that begins with the TLV. */
export const sign = (pdu: Uint8Array, header: number, authentication: IsisAuthentication): void => {
  if (authentication.kind !== 'digest') return;
  const at = header + headerOfTlv + authentication.prefix.length;
  pdu.set(authentication.digest(coveredOf(pdu, at, authentication.filler)), at);
};

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);

export const isAuthentic = (pdu: ReceivedPdu, authentication: IsisAuthentication): boolean => {
  const [value] = valuesOf(pdu, tlvType.authentication);
  if (authentication.kind === 'none') return true;
  if (value === undefined) return false;
  if (authentication.kind === 'simple') return value[0] === simple && isEqual(value.subarray(1), authentication.key);
  const { prefix, length, digest, filler } = authentication;
  if (value.length !== prefix.length + length || !isEqual(value.subarray(0, prefix.length), prefix)) return false;
  const at = value.byteOffset - pdu.bytes.byteOffset + prefix.length;
  return isEqual(digest(coveredOf(pdu.bytes, at, filler)), value.subarray(prefix.length));
};
