/** Ways in which a generated certificate can be wrong, to see whether a device that inspects TLS notices. */
export const certificateDefects = {
  expired: 'The validity ended yesterday.',
  notYetValid: 'The validity begins in 30 days.',
  wrongHost: 'The certificate is in order but names another host, wrong-host.invalid.',
  nulInName: 'Each host name is followed by a NUL byte and another domain, which careless clients cut off.',
  noSan: 'There are no alternative names; the host is named by the common name only.',
  hugeSan: 'The certificate has thousands of alternative names.',
  selfSigned: 'The certificate is signed by its own key and by no authority.',
  weakKey: 'The key is RSA of 1024 bits.',
  sha1Signature: 'The signature uses SHA-1.',
  badSignature: 'One bit of the signature is wrong.',
  revoked: 'A revocation list of the issuer, handed out with the chain, names the certificate.',
  longChain: 'Many intermediate authorities stand between the issuer and the certificate.',
  missingIntermediate: 'The intermediate authority that signed the certificate is not in the chain.',
  nonCaIssuer: 'The certificate is signed by one that is not an authority.',
  pathTooLong: 'An authority that allows no authority below it has one below it.',
  nameNotPermitted: 'An intermediate authority permits names below permitted.invalid only, and the host is not there.',
  caAsLeaf: 'The certificate of the host is itself an authority, and its key may only sign certificates.',
  wrongKeyUsage: 'The certificate is meant for signing code, not for servers.',
  duplicateExtension: 'Extensions occur twice, which the standard forbids.',
  unknownCriticalExtension:
    'An extension that nobody knows is marked critical, so every client must refuse the certificate.',
} as const;
export type DefectName = keyof typeof certificateDefects;
