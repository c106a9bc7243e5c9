import { type Static, Type } from 'typebox';

export const TlsVersion = Type.Union([Type.Literal('1.2'), Type.Literal('1.3')]);
export type TlsVersion = Static<typeof TlsVersion>;

const common = {
  versions: Type.Array(TlsVersion, { minItems: 1, default: ['1.2', '1.3'] }),
  ciphers: Type.Optional(Type.String({ description: 'OpenSSL cipher list; TLS 1.3 suites by their full names.' })),
  groups: Type.Optional(Type.String({ description: 'Key-exchange groups, such as X25519:P-256.' })),
  alpn: Type.Array(Type.String(), { default: [] }),
  certificate: Type.Optional(Type.String({ description: 'PEM chain.' })),
  privateKey: Type.Optional(Type.String({ description: 'PEM.' })),
  ca: Type.Optional(
    Type.String({ description: 'PEM of the authorities to trust; may include lists of revoked certificates.' }),
  ),
  earlyData: Type.Optional(
    Type.Boolean({ description: 'Send, or accept, data in the first flight of a resumed TLS 1.3 session.' }),
  ),
  recordSizeLimit: Type.Optional(
    Type.Integer({
      minimum: 512,
      maximum: 16_384,
      description: 'Largest record to send, and to ask the other end for (RFC 8449), in bytes of data.',
    }),
  ),
};

interface Options {
  /** Set when the settings are optional. */
  readonly default?: object;
}

export const tlsClientSettings = (options: Options = {}) =>
  Type.Object(
    {
      ...common,
      sni: Type.Optional(Type.String()),
      verify: Type.Boolean({ default: false, description: 'Verify the server certificate.' }),
      resumption: Type.Union([Type.Literal('none'), Type.Literal('ticket'), Type.Literal('psk')], {
        default: 'none',
        description: 'Session resumption: ticket in TLS 1.2, pre-shared key in TLS 1.3; either value enables both.',
      }),
    },
    { additionalProperties: false, ...options },
  );
export const TlsClientSettings = tlsClientSettings();
export type TlsClientSettings = Static<typeof TlsClientSettings>;

/** Without a certificate the server creates a self-signed one at preparation. */
export const tlsServerSettings = (options: Options = {}) =>
  Type.Object(
    {
      ...common,
      requestClientCertificate: Type.Boolean({ default: false }),
      tickets: Type.Boolean({ default: true, description: 'Offer session tickets.' }),
    },
    { additionalProperties: false, ...options },
  );
export const TlsServerSettings = tlsServerSettings();
export type TlsServerSettings = Static<typeof TlsServerSettings>;
