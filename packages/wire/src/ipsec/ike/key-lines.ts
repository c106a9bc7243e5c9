import type { ChildSa } from './child-sa.ts';
import type { CipherKeys, CipherSpec } from './crypto.ts';
import type { IkeSa } from './ike-sa.ts';
import type { IkeKeys } from './key-schedule.ts';
import { encryptionId, integrityId } from './messages/numbers.ts';

// Wireshark reads keys from tables of the profile folder; algorithms are named as its dialogs name them.

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const quoted = (text: string): string => `"${text}"`;

const icvBytes: Readonly<Record<number, number>> = {
  [encryptionId.aesGcm8]: 8,
  [encryptionId.aesGcm12]: 12,
  [encryptionId.aesGcm16]: 16,
};

const ikeCipherName = ({ encryption, keyBits }: CipherSpec): string | undefined => {
  if (encryption === encryptionId.tripleDes) return '3DES [RFC2451]';
  if (encryption === encryptionId.aesCbc) return `AES-CBC-${keyBits} [RFC3602]`;
  if (encryption === encryptionId.aesCtr) return `AES-CTR-${keyBits} [RFC5930]`;
  const icv = icvBytes[encryption];
  return icv === undefined ? undefined : `AES-GCM-${keyBits} with ${icv} octet ICV [RFC5282]`;
};

const ikeIntegrityNames: Readonly<Record<number, string>> = {
  [integrityId.none]: 'NONE [RFC4306]',
  [integrityId.sha1]: 'HMAC_SHA1_96 [RFC2404]',
  [integrityId.sha256]: 'HMAC_SHA2_256_128 [RFC4868]',
  [integrityId.sha384]: 'HMAC_SHA2_384_192 [RFC4868]',
  [integrityId.sha512]: 'HMAC_SHA2_512_256 [RFC4868]',
};

/** A line of `ikev2_decryption_table`; undefined: Wireshark does not know the cipher. */
export const ikeKeyLine = ({ suite, initiatorSpi, responderSpi }: IkeSa, keys: IkeKeys): string | undefined => {
  const cipher = suite && ikeCipherName(suite);
  if (suite === undefined || cipher === undefined) return undefined;
  const { initiator, responder } = keys;
  return [
    ...[initiatorSpi, responderSpi, initiator.encryption, responder.encryption].map(hex),
    quoted(cipher),
    ...[initiator.integrity, responder.integrity].map(hex),
    quoted(ikeIntegrityNames[suite.integrity] ?? ''),
  ].join(',');
};

const espCipherName = ({ encryption }: CipherSpec): string | undefined => {
  if (encryption === encryptionId.null) return 'NULL';
  if (encryption === encryptionId.tripleDes) return 'TripleDES-CBC [RFC2451]';
  if (encryption === encryptionId.aesCbc) return 'AES-CBC [RFC3602]';
  if (encryption === encryptionId.aesCtr) return 'AES-CTR [RFC3686]';
  if (encryption === encryptionId.chacha20Poly1305) return 'ChaCha20 with Poly1305 [RFC7634]';
  const icv = icvBytes[encryption];
  return icv === undefined ? undefined : `AES-GCM with ${icv} octet ICV [RFC4106]`;
};

const espIntegrityNames: Readonly<Record<number, string>> = {
  [integrityId.none]: 'NULL',
  [integrityId.sha1]: 'HMAC-SHA-1-96 [RFC2404]',
  [integrityId.sha256]: 'HMAC-SHA-256-128 [RFC4868]',
  [integrityId.sha384]: 'HMAC-SHA-384-192 [RFC4868]',
  [integrityId.sha512]: 'HMAC-SHA-512-256 [RFC4868]',
};

const keyText = (key: Uint8Array): string => quoted(key.length === 0 ? '' : `0x${hex(key)}`);

/**
 * Lines of `esp_sa`, one for each direction, with the IP version of the outer packets. None: Wireshark does not know the
 * cipher.
 */
export const espKeyLines = (child: ChildSa, version: 4 | 6): string[] => {
  const { suite, inbound, outbound, keys } = child;
  const cipher = espCipherName(suite);
  if (cipher === undefined || keys === undefined) return [];
  const lineOf = (spi: number, { encryption, integrity }: CipherKeys) =>
    [
      ...[`IPv${version}`, '*', '*', `0x${spi.toString(16).padStart(8, '0')}`, cipher].map(quoted),
      keyText(encryption),
      quoted(espIntegrityNames[suite.integrity] ?? ''),
      keyText(integrity),
    ].join(',');
  return [lineOf(inbound.spi, keys.inbound), lineOf(outbound.spi, keys.outbound)];
};
