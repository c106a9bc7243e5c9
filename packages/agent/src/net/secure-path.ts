import type { DataPath, Listen, TlsClientSettings, TlsServerSettings } from '@rushhour/protocol';
import type { Samples } from '../engine.ts';
import { createStreamTransport, noteIgnoredTuning, type PathOptions, streamPathName } from './data-path.ts';
import { alertName } from './openssl/alerts.ts';
import { findOpenssl } from './openssl/library.ts';
import type { TlsObserver } from './openssl/tls-connection.ts';
import { createTlsClientTransport, createTlsServerTransport } from './openssl/tls-transport.ts';
import { createStartTls } from './tls/start-tls.ts';
import { serverTlsOptions, withCertificate } from './tls/tls-options.ts';
import { createNodeTlsTransport } from './transport/node-transport.ts';
import type { ConnectionOptions, Transport } from './transport/transport.ts';

/** Why TLS has to use Node's own sockets; undefined if it does not. */
const fallbackReason = (path: DataPath | undefined): string | undefined => {
  if (path === 'node') return 'the data path node was asked for';
  const found = findOpenssl();
  return 'reason' in found ? found.reason : undefined;
};

/** The path that TLS uses on this machine, for the list of capabilities. */
export const securePathName = (): string =>
  fallbackReason(undefined) === undefined ? `OpenSSL on ${streamPathName()}` : 'node:tls';

/** Counts alerts and early data by the names `<engine>.alerts.<direction>.<alert>`. */
export const tlsMetrics = (samples: Samples, engine: string): TlsObserver => {
  const counters = { sent: [], received: [] } as Record<'sent' | 'received', ReturnType<Samples['counter']>[]>;
  return {
    onAlert(direction, alert) {
      const known = counters[direction];
      known[alert] ??= samples.counter(`${engine}.alerts.${direction}.${alertName(alert)}`);
      known[alert].add(1);
    },
    onEarlyData: (isAccepted) => samples.counter(`${engine}.earlyData.${isAccepted ? 'accepted' : 'rejected'}`).add(1),
  };
};

export interface SecurePath extends PathOptions, TlsObserver {
  readonly alpn: readonly string[];
}

const noteFallback = (path: SecurePath, { tuning }: ConnectionOptions, reason: string): void => {
  path.note(`TLS by node:tls: ${reason}`);
  noteIgnoredTuning(path.note, tuning);
};

/** TLS for the side that connects, on the fastest path this machine supports. */
export const createSecureClient = (
  settings: TlsClientSettings,
  path: SecurePath,
  options: ConnectionOptions,
): Transport => {
  const { alpn, hostNetwork } = path;
  const reason = fallbackReason(path.path);
  if (reason === undefined) {
    return createTlsClientTransport(createStreamTransport(path, options), { ...path, settings });
  }
  noteFallback(path, options, reason);
  return createNodeTlsTransport({ startTls: createStartTls(settings, alpn), hostNetwork });
};

/** TLS for the side that listens. Without a certificate it makes one for the addresses it listens on. */
export const createSecureServer = (
  settings: TlsServerSettings,
  path: SecurePath & { readonly listen: readonly Listen[] },
  options: ConnectionOptions,
): Transport => {
  const { alpn, hostNetwork, listen, onHandshakeError } = path;
  const reason = fallbackReason(path.path);
  if (reason === undefined) {
    const certified = withCertificate(settings, listen);
    return createTlsServerTransport(createStreamTransport(path, options), { ...path, settings: certified });
  }
  noteFallback(path, options, reason);
  return createNodeTlsTransport({
    server: serverTlsOptions(settings, listen, alpn),
    hostNetwork,
    ...(onHandshakeError && { onHandshakeError }),
  });
};
