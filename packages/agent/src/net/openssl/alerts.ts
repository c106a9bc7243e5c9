/** Alerts of TLS by number (RFC 8446, section 6). */
const alertNames: Readonly<Record<number, string>> = {
  0: 'closeNotify',
  10: 'unexpectedMessage',
  20: 'badRecordMac',
  21: 'decryptionFailed',
  22: 'recordOverflow',
  30: 'decompressionFailure',
  40: 'handshakeFailure',
  41: 'noCertificate',
  42: 'badCertificate',
  43: 'unsupportedCertificate',
  44: 'certificateRevoked',
  45: 'certificateExpired',
  46: 'certificateUnknown',
  47: 'illegalParameter',
  48: 'unknownCa',
  49: 'accessDenied',
  50: 'decodeError',
  51: 'decryptError',
  60: 'exportRestriction',
  70: 'protocolVersion',
  71: 'insufficientSecurity',
  80: 'internalError',
  86: 'inappropriateFallback',
  90: 'userCanceled',
  100: 'noRenegotiation',
  109: 'missingExtension',
  110: 'unsupportedExtension',
  111: 'certificateUnobtainable',
  112: 'unrecognizedName',
  113: 'badCertificateStatusResponse',
  114: 'badCertificateHashValue',
  115: 'unknownPskIdentity',
  116: 'certificateRequired',
  120: 'noApplicationProtocol',
  121: 'echRequired',
};

export const alertName = (number: number): string => alertNames[number] ?? `alert${number}`;

/** Results of the verification of a certificate, as Node names them, and the alert that OpenSSL sends. */
const verifyResults: Readonly<Record<number, readonly [code: string, alert: number]>> = {
  2: ['UNABLE_TO_GET_ISSUER_CERT', 48],
  3: ['UNABLE_TO_GET_CRL', 48],
  7: ['CERT_SIGNATURE_FAILURE', 51],
  8: ['CRL_SIGNATURE_FAILURE', 51],
  9: ['CERT_NOT_YET_VALID', 42],
  10: ['CERT_HAS_EXPIRED', 45],
  11: ['CRL_NOT_YET_VALID', 42],
  12: ['CRL_HAS_EXPIRED', 45],
  18: ['DEPTH_ZERO_SELF_SIGNED_CERT', 48],
  19: ['SELF_SIGNED_CERT_IN_CHAIN', 48],
  20: ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 48],
  21: ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 48],
  22: ['CERT_CHAIN_TOO_LONG', 48],
  23: ['CERT_REVOKED', 44],
  24: ['INVALID_CA', 48],
  26: ['INVALID_PURPOSE_CERT', 43],
  27: ['CERT_UNTRUSTED', 42],
  28: ['CERT_REJECTED', 42],
  62: ['ERR_TLS_CERT_ALTNAME_INVALID', 42],
  64: ['ERR_TLS_CERT_ALTNAME_INVALID', 42],
};

/** The code of a failed verification and the number of its alert. */
export const verifyFailure = (result: number): readonly [code: string, alert: number] =>
  verifyResults[result] ?? [`CERT_VERIFY_${result}`, 46];

const recordOfAlert = 21;
const plainAlertBytes = 7;

/** The number of an alert in the last bytes sent, if it was sent in the clear; otherwise -1. */
export const plainAlertIn = (records: Uint8Array): number => {
  const at = records.length - plainAlertBytes;
  return at >= 0 && records[at] === recordOfAlert && records[at + 3] === 0 && records[at + 4] === 2
    ? (records[at + 6] as number)
    : -1;
};

/** Alerts that OpenSSL sends for errors of the record layer and of the handshake, by the reason of the error. */
const alertsByReason: Readonly<Record<number, number>> = {
  129: 51, // bad digest length
  123: 51, // bad signature
  146: 22, // data length too long
  150: 22, // encrypted length too long
  159: 50, // length mismatch
  198: 22, // packet length too long
  199: 116, // peer did not return a certificate
  244: 10, // unexpected message
  245: 10, // unexpected record
  281: 20, // decryption failed or bad record mac
};

export const alertOfReason = (reason: number): number => alertsByReason[reason] ?? -1;
