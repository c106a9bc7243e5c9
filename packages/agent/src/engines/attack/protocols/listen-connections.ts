import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { AttackListen } from '@rushhour/protocol';
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
  { tls, hostNetwork }: Pick<ServerContext, 'tls' | 'hostNetwork'>,
  receive: (socket: Socket) => ReportingConnection,
): Promise<AttackListener> => {
  const connections = new Set<ReportingConnection>();
  const onConnection = (socket: Socket) => {
    const connection = receive(socket);
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  };
  const create = (): Server => {
    if (!endpoint.isTls) return createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
    return createTlsServer(tls, onConnection).on('tlsClientError', () => {});
  };
  const servers = await listenAll([endpoint], create, { core: { count: 1 }, hostNetwork });
  return {
    async close() {
      for (const connection of connections) connection.report();
      await closeServers(servers);
    },
  };
};
