export type CertificateErrorCode =
  | 'BAD_PEM'
  | 'BAD_PKCS12'
  | 'BAD_PASSPHRASE'
  | 'UNSUPPORTED_ENCRYPTION'
  | 'KEY_MISMATCH'
  | 'BAD_SUBJECT'
  | 'BAD_SAN'
  | 'BAD_VALIDITY'
  | 'BAD_DEFECT'
  | 'ISSUER_REQUIRED'
  | 'ISSUER_HAS_NO_KEY'
  | 'ISSUER_NOT_CA'
  | 'ISSUER_KEY_UNSUPPORTED';

/** Something the caller can put right; `path` is the JSON pointer of the request member at fault. */
export class CertificateError extends Error {
  readonly code: CertificateErrorCode;
  readonly path: string;

  constructor(code: CertificateErrorCode, path: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CertificateError';
    this.code = code;
    this.path = path;
  }
}
