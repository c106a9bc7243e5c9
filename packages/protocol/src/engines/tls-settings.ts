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
  ca: Type.Optional(Type.String({ description: 'PEM of the authorities to trust.' })),
};

interface Options {
  /** Given where the settings may be left out altogether. */
  readonly default?: object;
}

export const tlsClientSettings = (options: Options = {}) =>
  Type.Object(
    {
      ...common,
      sni: Type.Optional(Type.String()),
      verify: Type.Boolean({ default: false, description: 'Refuse a certificate that does not verify.' }),
      resumption: Type.Union([Type.Literal('none'), Type.Literal('ticket'), Type.Literal('psk')], {
        default: 'none',
        description: 'Resume sessions: by ticket in TLS 1.2, by pre-shared key in TLS 1.3; either word allows both.',
      }),
    },
    { additionalProperties: false, ...options },
  );
export const TlsClientSettings = tlsClientSettings();
export type TlsClientSettings = Static<typeof TlsClientSettings>;

/** Without a certificate the server makes a self-signed one when it is prepared. */
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
