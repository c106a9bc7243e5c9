import type { TlsServerConfig } from '@rushhour/protocol';
import type { EngineContext, PreparedEngine } from '../../engine.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { countError } from '../../net/metrics/count-error.ts';
import { createSecureServer, tlsObserver } from '../../net/secure-path.ts';
import type { Connection, ConnectionEvents, Listener } from '../../net/transport/transport.ts';

/** Accepts TLS handshakes and closes when the client closes. */
export const prepareTlsServer = async (context: EngineContext<TlsServerConfig>): Promise<PreparedEngine> => {
  const { config, core, samples, signal, note, hostNetwork } = context;
  const full = samples.counter('tls.acceptedFull');
  const resumed = samples.counter('tls.acceptedResumed');
  const active = samples.gauge('tls.active');
  const onError = (code: string) => countError(samples, 'tls', code);
  const transport = createSecureServer(
    config.tls,
    {
      ...tlsObserver(context, 'tls'),
      path: config.dataPath,
      note,
      hostNetwork,
      alpn: config.tls.alpn,
      listen: config.listen,
      onHandshakeError: onError,
    },
    { noDelay: true, keepAliveSec: 0, readSize: 'small', closesImmediately: false },
  );
  const events: ConnectionEvents = {
    onOpen() {},
    onData() {},
    onClose(code) {
      active.add(-1);
      if (code !== undefined) onError(code);
    },
  };
  const accept = (connection: Connection): ConnectionEvents => {
    ((connection as Required<Connection>).handshake().isResumed ? resumed : full).add(1);
    active.add(1);
    return events;
  };
  const listeners: Listener[] = [];
  const close = async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
    await transport.close();
  };
  try {
    for (const listen of config.listen)
      listeners.push(await transport.listen({ ...listen, isShared: core.count > 1 }, accept));
  } catch (error) {
    await close();
    throw error;
  }
  return { start: () => aborted(signal), close };
};
