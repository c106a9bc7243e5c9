import { createServer, type Server } from 'node:net';
import type { AttackListen } from '@rushhour/protocol';
import { createSecureSockets, type ServedSocket } from '../../../net/secure-sockets.ts';
import { closeServers, listenAll } from '../../../net/transport/listen-all.ts';
import type { AttackListener, ServerContext } from '../driver.ts';

/** A server connection that reports its outcome. */
interface ReportingConnection {
  /** Reports the outcome, once. */
  report(): void;
}

/** An IPv4 address without the prefix it has on sockets of IPv6. */
export const plainIp = (address: string | undefined): string => address?.replace(/^::ffff:/, '') ?? '';

/** Listens on TCP, or TLS if configured. Connections still open at the end report their outcome. */
export const listenConnections = async (
  endpoint: AttackListen,
  { tls, hostNetwork, secure: options }: Pick<ServerContext, 'tls' | 'hostNetwork' | 'secure'>,
  receive: (socket: ServedSocket) => ReportingConnection,
  alpn: readonly string[] = tls.alpn,
): Promise<AttackListener> => {
  const connections = new Set<ReportingConnection>();
  const onConnection = (socket: ServedSocket) => {
    const connection = receive(socket);
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  };
  const secure = endpoint.isTls
    ? createSecureSockets(tls, { ...options, alpn, listen: [endpoint] }, onConnection)
    : undefined;
  const create = (): Server =>
    createServer({ allowHalfOpen: secure === undefined, noDelay: true }, (socket) =>
      secure === undefined ? onConnection(socket) : secure.take(socket),
    );
  const servers = await listenAll([endpoint], create, { core: { count: 1 }, hostNetwork });
  return {
    async close() {
      for (const connection of connections) connection.report();
      await closeServers(servers);
      await secure?.close();
    },
  };
};
