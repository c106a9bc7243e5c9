import { createServer, type Server, type Socket } from 'node:net';
import type { AttackListen, TlsFingerprint } from '@rushhour/protocol';
import { createSecureSockets, type ServedSocket } from '../../../net/secure-sockets.ts';
import { closeServers, listenAll } from '../../../net/transport/listen-all.ts';
import type { AttackListener, ServerContext } from '../driver.ts';
import { fingerprintIn } from '../transport/tls-hello.ts';

/** A server connection that reports its outcome. */
interface ReportingConnection {
  /** Reports the outcome, once. */
  report(): void;
}

/** An IPv4 address without the prefix it has on sockets of IPv6. */
export const plainIp = (address: string | undefined): string => address?.replace(/^::ffff:/, '') ?? '';

const hellos = new Map<string, TlsFingerprint>();
const endsOf = ({ localPort, remoteAddress, remotePort }: ServedSocket) =>
  `${localPort} ${remoteAddress} ${remotePort}`;

/** What the client of a TLS connection offered, as it arrived. */
export const arrivedHello = (socket: ServedSocket): TlsFingerprint | undefined => hellos.get(endsOf(socket));

const longestHello = 65_536;

/** Reads the first message of TLS, and gives it back for the handshake. */
const noteHello = (socket: Socket, onRead: () => void): void => {
  let held = Buffer.alloc(0);
  const ends = endsOf(socket);
  const take = (bytes: Buffer) => {
    held = Buffer.concat([held, bytes]);
    const found = fingerprintIn(held);
    if (found === 'incomplete' && held.length < longestHello) return;
    if (typeof found === 'object') hellos.set(ends, found);
    socket.off('data', take).pause();
    socket.unshift(held);
    onRead();
    process.nextTick(() => socket.resume());
  };
  socket.on('error', () => {});
  socket.on('close', () => hellos.delete(ends));
  socket.on('data', take);
};

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
      secure === undefined ? onConnection(socket) : noteHello(socket, () => secure.take(socket)),
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
