import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer } from 'node:tls';
import type { Listen, TlsServerSettings } from '@rushhour/protocol';
import { errorCodeOf } from './metrics/count-error.ts';
import type { TlsConnection, TlsObserver } from './openssl/tls-connection.ts';
import { createTlsServerTransport } from './openssl/tls-transport.ts';
import { fallbackReason } from './secure-path.ts';
import { remarkOnNodeTls, serverTlsOptions, withCertificate } from './tls/tls-options.ts';
import { ConnectionDuplex } from './transport/connection-duplex.ts';
import { createGivenSockets, type GivenConnection } from './transport/given-sockets.ts';
import type { Connection } from './transport/transport.ts';

/** An accepted connection, with or without TLS. */
export interface ServedSocket extends Duplex {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** One after a handshake. */
export interface SecureSocket extends ServedSocket {
  readonly alpnProtocol: string | false | null;
}

/** What is said over a TLS session, with the addresses of the socket below. */
class OpensslSocket extends ConnectionDuplex {
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly alpnProtocol: string | false;

  constructor(connection: Connection) {
    super(connection);
    const { socket } = (connection as TlsConnection).inner as GivenConnection;
    this.localAddress = socket.localAddress;
    this.localPort = socket.localPort;
    this.remoteAddress = socket.remoteAddress;
    this.remotePort = socket.remotePort;
    this.alpnProtocol = connection.handshake?.().alpn ?? false;
  }
}

export interface SecureSocketsOptions extends TlsObserver {
  readonly alpn: readonly string[];
  readonly listen: readonly Listen[];
  readonly note: (remark: string) => void;
}

/** TLS on sockets that others accept, for protocols that Node serves. */
export interface SecureSockets {
  /** Begins the handshake. */
  take(socket: Socket): void;
  close(): Promise<void>;
}

/** `onSecure` gets sockets after their handshake. Without a certificate it makes one for the addresses it listens on. */
export const createSecureSockets = (
  settings: TlsServerSettings,
  options: SecureSocketsOptions,
  onSecure: (socket: SecureSocket) => void,
): SecureSockets => {
  const { listen, alpn, note, onHandshakeError } = options;
  const reason = fallbackReason(undefined);
  if (reason !== undefined) {
    note(remarkOnNodeTls(reason, settings));
    const server = createServer(serverTlsOptions(settings, listen, alpn), onSecure);
    server.on('tlsClientError', (error) => onHandshakeError?.(errorCodeOf(error)));
    return { take: (socket) => void server.emit('connection', socket), close: async () => {} };
  }
  const sockets = createGivenSockets();
  const transport = createTlsServerTransport(sockets, { ...options, settings: withCertificate(settings, listen) });
  const ready = transport.listen({ host: '', port: 0, isShared: false }, (connection) => {
    const socket = new OpensslSocket(connection);
    onSecure(socket);
    return socket;
  });
  return {
    take: (socket) => sockets.take(socket),
    async close() {
      await ready;
      await transport.close();
    },
  };
};
