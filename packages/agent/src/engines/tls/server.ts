import { createServer } from 'node:tls';
import type { TlsServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { countError, errorCodeOf } from '../../net/metrics/count-error.ts';
import { serverTlsOptions } from '../../net/tls/tls-options.ts';
import { closeServers, listenAll } from '../../net/transport/listen-all.ts';

/** Accepts TLS handshakes and closes when the client closes. */
export const prepareTlsServer = async (context: EngineContext<TlsServerConfig>): Promise<PreparedEngine> => {
  const { config, samples, signal } = context;
  const full = samples.counter('tls.acceptedFull');
  const resumed = samples.counter('tls.acceptedResumed');
  const active = samples.gauge('tls.active');
  const options = serverTlsOptions(config.tls, config.listen);
  const create = () => {
    const server = createServer(options, (socket) => {
      (socket.isSessionReused() ? resumed : full).add(1);
      active.add(1);
      socket.on('close', () => active.add(-1));
      socket.on('error', (error) => countError(samples, 'tls', errorCodeOf(error)));
      socket.resume();
    });
    server.on('tlsClientError', (error) => countError(samples, 'tls', errorCodeOf(error)));
    return server;
  };
  const servers = await listenAll(config.listen, create, context);
  return { start: () => aborted(signal), close: () => closeServers(servers) };
};
