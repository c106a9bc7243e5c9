import type { DataPath, Listen, TlsClientSettings, TlsServerSettings } from '@rushhour/protocol';
import { PathUnavailable } from '../data-path.ts';
import type { HostNetwork } from '../host-network.ts';
import { findOpenssl } from '../openssl/library.ts';
import { probeEpoll } from '../path-probe.ts';
import { withCertificate } from '../tls/tls-options.ts';
import { createQuicClient, type QuicClient, type QuicClientOptions } from './quic-client.ts';
import { createQuicServer, type QuicServer, type QuicServerOptions } from './quic-server.ts';

/** Why there is no QUIC on this machine; undefined if there is. It has no fallback. */
const missingReason = (): string | undefined => {
  const found = findOpenssl();
  return 'reason' in found ? found.reason : probeEpoll();
};

/** For the list of capabilities. */
export const quicPathName = (): string => {
  const reason = missingReason();
  return reason === undefined ? 'QUIC by OpenSSL' : `no QUIC: ${reason}`;
};

interface QuicContext {
  readonly config: { readonly dataPath?: DataPath | undefined };
  readonly hostNetwork?: HostNetwork | undefined;
}

interface QuicPath {
  createClient(
    settings: TlsClientSettings | undefined,
    alpn: readonly string[],
    options: Omit<QuicClientOptions, 'settings' | 'alpn' | 'hostNetwork'>,
  ): QuicClient;
  createServer(
    settings: TlsServerSettings | undefined,
    options: Omit<QuicServerOptions, 'settings' | 'hostNetwork'> & { readonly listen: readonly Listen[] },
  ): QuicServer;
}

/** QUIC on kernel sockets or emulated hosts. Throws where it cannot be had. */
export const createQuicPath = ({ config, hostNetwork }: QuicContext): QuicPath => {
  const reason =
    hostNetwork === undefined && config.dataPath === 'node' ? 'the data path node has no QUIC' : missingReason();
  if (reason !== undefined) throw new PathUnavailable(reason);
  const required = <T>(settings: T | undefined): T => {
    if (settings === undefined) throw new PathUnavailable('QUIC needs TLS settings');
    return settings;
  };
  return {
    createClient: (settings, alpn, options) =>
      createQuicClient({ ...options, alpn, hostNetwork, settings: required(settings) }),
    createServer: (settings, { listen, ...options }) =>
      createQuicServer({ ...options, hostNetwork, settings: withCertificate(required(settings), listen) }),
  };
};
