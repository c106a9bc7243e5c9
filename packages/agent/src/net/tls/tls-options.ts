import { hkdfSync } from 'node:crypto';
import { type ConnectionOptions, createSecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls';
import type { Listen, TlsClientSettings, TlsServerSettings, TlsVersion } from '@rushhour/protocol';
import { createSelfSigned } from './self-signed.ts';

const versionName = { '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' } as const;

/** What is asked for and cannot be had from node:tls, as a remark. */
export const remarkOnNodeTls = (reason: string, settings: TlsClientSettings | TlsServerSettings): string => {
  const missing = [
    ...(settings.earlyData === true ? ['early data'] : []),
    ...(settings.recordSizeLimit !== undefined ? ['limit of records'] : []),
  ];
  return `TLS by node:tls: ${reason}${missing.length > 0 ? `; it has no ${missing.join(' and ')}` : ''}`;
};

const contextOptions = (settings: TlsClientSettings | TlsServerSettings): SecureContextOptions => {
  const versions = settings.versions.toSorted() as TlsVersion[];
  return {
    minVersion: versionName[versions[0] as TlsVersion],
    maxVersion: versionName[versions.at(-1) as TlsVersion],
    ...(settings.ciphers !== undefined && { ciphers: settings.ciphers }),
    ...(settings.groups !== undefined && { ecdhCurve: settings.groups }),
    ...(settings.certificate !== undefined && { cert: settings.certificate }),
    ...(settings.privateKey !== undefined && { key: settings.privateKey }),
    ...(settings.ca !== undefined && { ca: settings.ca }),
  };
};

/** Options for all connections of a client; the context is built once because that costs more than a handshake. */
export const clientTlsOptions = (
  settings: TlsClientSettings,
  alpn: readonly string[] = settings.alpn,
): ConnectionOptions => ({
  secureContext: createSecureContext(contextOptions(settings)),
  rejectUnauthorized: settings.verify,
  ...(alpn.length > 0 && { ALPNProtocols: [...alpn] }),
  ...(settings.sni !== undefined && { servername: settings.sni }),
});

const generated = new WeakMap<TlsServerSettings, TlsServerSettings>();

/**
 * The same settings with a certificate, generated once if none was given, so that all cores of a server use the same.
 */
export const withCertificate = (settings: TlsServerSettings, listen: readonly Listen[]): TlsServerSettings => {
  if (settings.certificate !== undefined) return settings;
  const names = ['localhost', '127.0.0.1', '::1', ...listen.map(({ host }) => host)];
  const made = generated.get(settings) ?? { ...settings, ...createSelfSigned(names) };
  generated.set(settings, made);
  return made;
};

/** Derived from the private key, so that a session begun on one core can be resumed on another. */
const ticketKeysOf = (privateKey: string): Buffer =>
  Buffer.from(hkdfSync('sha256', privateKey, '', 'rushhour session tickets', 48));

export const serverTlsOptions = (
  requested: TlsServerSettings,
  listen: readonly Listen[],
  alpn: readonly string[] = requested.alpn,
): TlsOptions => {
  const settings = withCertificate(requested, listen);
  return {
    ...contextOptions(settings),
    ...(alpn.length > 0 && { ALPNProtocols: [...alpn] }),
    ...(settings.privateKey !== undefined && { ticketKeys: ticketKeysOf(settings.privateKey) }),
    requestCert: settings.requestClientCertificate,
    rejectUnauthorized: settings.requestClientCertificate && settings.ca !== undefined,
    ...(settings.tickets ? {} : { secureOptions: noTickets }),
  };
};

// SSL_OP_NO_TICKET
const noTickets = 0x4000;
