import { type ConnectionOptions, createSecureContext } from 'node:tls';
import type { TlsClientSettings, TlsHello, TlsVersion } from '@rushhour/protocol';

const versionName = { '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' } as const;
/** Options of OpenSSL: SSL_OP_NO_EXTENDED_MASTER_SECRET, SSL_OP_NO_TICKET, SSL_OP_NO_ENCRYPT_THEN_MAC. */
const without = { extendedSecret: 1, ticket: 1 << 14, encryptThenMac: 1 << 19 } as const;

/** SSL_OP_NO_TX_CERTIFICATE_COMPRESSION and SSL_OP_NO_RX_CERTIFICATE_COMPRESSION, which node:tls sets. */
const noCompression = 2 ** 32 + 2 ** 33;

/** Extensions of the first message of a client that its settings do not name. */
export interface ClientOffer {
  readonly signatures: string | undefined;
  /** Options of OpenSSL to set. */
  readonly options: number;
  /** Asks for the status of the certificate. */
  readonly asksStatus: boolean;
}

const optionBits = (hello: TlsHello): number =>
  Object.entries(without)
    .filter(([name]) => !hello[name as keyof typeof without])
    .reduce((sum, [, bit]) => sum | bit, 0);

export const offerOf = (hello: TlsHello): ClientOffer => ({
  signatures: hello.signatures,
  options: optionBits(hello) + noCompression,
  asksStatus: hello.status,
});

/** A version without a cipher suite cannot be offered. */
const versionsOf = ({ versions, ciphers }: TlsHello): TlsVersion[] => {
  const names = ciphers.split(':');
  const isNew = (name: string) => name.startsWith('TLS_');
  const offered = versions.filter((version) => names.some((name) => isNew(name) === (version === '1.3')));
  return offered.length > 0 ? offered : versions;
};

/** Settings of connections that begin like this. */
export const helloSettings = (hello: TlsHello): TlsClientSettings => ({
  versions: versionsOf(hello),
  ciphers: hello.ciphers,
  groups: hello.groups,
  alpn: hello.alpn,
  verify: false,
  resumption: 'none',
});

const nodeOptionsOf = (hello: TlsHello): ConnectionOptions => {
  const versions = hello.versions.toSorted() as TlsHello['versions'];
  return {
    secureContext: createSecureContext({
      minVersion: versionName[versions[0] as '1.2'],
      maxVersion: versionName[versions.at(-1) as '1.2'],
      ciphers: hello.ciphers,
      ecdhCurve: hello.groups,
      ...(hello.signatures !== undefined && { sigalgs: hello.signatures }),
      secureOptions: optionBits(hello),
    }),
    rejectUnauthorized: false,
    requestOCSP: hello.status,
    ...(hello.alpn.length > 0 && { ALPNProtocols: [...hello.alpn] }),
  };
};

const known = new Map<string, ConnectionOptions>();

/** Options of node:tls for connections that begin like this. */
export const helloOptions = (hello: TlsHello): ConnectionOptions => {
  const key = JSON.stringify(hello);
  const options = known.get(key) ?? nodeOptionsOf(hello);
  known.set(key, options);
  return options;
};
