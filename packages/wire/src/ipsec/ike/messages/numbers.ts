// Numbers of IKEv2 (RFC 7296 and the IANA registry).

export const exchangeType = { saInit: 34, auth: 35, createChild: 36, informational: 37, intermediate: 43 } as const;

export const payloadType = {
  none: 0,
  sa: 33,
  keyExchange: 34,
  idInitiator: 35,
  idResponder: 36,
  certificate: 37,
  certificateRequest: 38,
  auth: 39,
  nonce: 40,
  notify: 41,
  delete: 42,
  vendor: 43,
  tsInitiator: 44,
  tsResponder: 45,
  encrypted: 46,
  configuration: 47,
  eap: 48,
  encryptedFragment: 53,
} as const;

export const headerFlag = { initiator: 0x08, response: 0x20 } as const;

export const protocolId = { none: 0, ike: 1, ah: 2, esp: 3 } as const;

export const transformType = { encryption: 1, prf: 2, integrity: 3, group: 4, esn: 5, additionalExchange: 6 } as const;

export const encryptionId = {
  tripleDes: 3,
  null: 11,
  aesCbc: 12,
  aesCtr: 13,
  aesGcm8: 18,
  aesGcm12: 19,
  aesGcm16: 20,
  aesGmac: 21,
  chacha20Poly1305: 28,
} as const;

export const integrityId = { none: 0, sha1: 2, sha256: 12, sha384: 13, sha512: 14 } as const;

export const prfId = { sha1: 2, sha256: 5, sha384: 6, sha512: 7 } as const;

export const groupId = {
  none: 0,
  modp1024: 2,
  modp1536: 5,
  modp2048: 14,
  modp3072: 15,
  modp4096: 16,
  modp6144: 17,
  modp8192: 18,
  ecp256: 19,
  ecp384: 20,
  ecp521: 21,
  curve25519: 31,
  curve448: 32,
  mlkem512: 35,
  mlkem768: 36,
  mlkem1024: 37,
} as const;

export const authMethod = {
  rsa: 1,
  sharedKey: 2,
  ecdsa256: 9,
  ecdsa384: 10,
  ecdsa521: 11,
  digitalSignature: 14,
} as const;

export const idType = { ipv4: 1, fqdn: 2, email: 3, ipv6: 5, distinguishedName: 9, keyId: 11 } as const;

/** Types below 16384 are errors. */
export const notifyType = {
  unsupportedCriticalPayload: 1,
  invalidIkeSpi: 4,
  invalidMajorVersion: 5,
  invalidSyntax: 7,
  invalidMessageId: 9,
  invalidSpi: 11,
  noProposalChosen: 14,
  invalidKe: 17,
  authenticationFailed: 24,
  singlePairRequired: 34,
  noAdditionalSas: 35,
  internalAddressFailure: 36,
  failedCpRequired: 37,
  tsUnacceptable: 38,
  invalidSelectors: 39,
  temporaryFailure: 43,
  unacceptableAddresses: 40,
  unexpectedNatDetected: 41,
  childSaNotFound: 44,
  initialContact: 16_384,
  setWindowSize: 16_385,
  additionalTsPossible: 16_386,
  natDetectionSource: 16_388,
  natDetectionDestination: 16_389,
  cookie: 16_390,
  useTransportMode: 16_391,
  rekeySa: 16_393,
  espTfcPaddingNotSupported: 16_394,
  mobikeSupported: 16_396,
  updateSaAddresses: 16_400,
  cookie2: 16_401,
  fragmentationSupported: 16_430,
  signatureHashAlgorithms: 16_431,
  intermediateExchangeSupported: 16_438,
} as const;

export const firstStatusNotify = 16_384;

const notifyNames: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(notifyType).map(([name, type]) => [
    type,
    name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
  ]),
);

/** Name of a notification as the registry has it, such as NO_PROPOSAL_CHOSEN. */
export const notifyName = (type: number): string => notifyNames[type] ?? `NOTIFY_${type}`;

export const configurationType = { request: 1, reply: 2 } as const;

export const configurationAttribute = { ip4Address: 1, ip4Netmask: 2, ip4Dns: 3, ip6Address: 8 } as const;

export const hashId = { sha1: 1, sha256: 2, sha384: 3, sha512: 4 } as const;
