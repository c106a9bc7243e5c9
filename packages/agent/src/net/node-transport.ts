import { connect as connectTcp, type OnReadOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { codeOf } from './error-kind.ts';
import type { Connection, ConnectionEvents, Transport } from './transport.ts';

const readBytes = 65_536;

/** Tells the engine once how it ended. An error always comes before the close that belongs to it. */
const watchEnd = (socket: Socket, events: ConnectionEvents): void => {
  let code: string | undefined;
  socket.on('error', (error) => {
    code ??= codeOf(error);
  });
  socket.on('close', () => events.onClose(code));
};

/** `tcp` is the socket that can be reset; under TLS it is not the one written to. */
const connectionOf = (socket: Socket, tcp: Socket = socket): Connection => ({
  write: (bytes) => void socket.write(bytes),
  close: () => void socket.end(),
  reset: () => void (tcp.connecting ? socket.destroy() : tcp.resetAndDestroy()),
});

/** Plain Node sockets. All share one buffer to read into: a read is handed on before the next begins. */
export const createNodeTransport = (): Transport => {
  const buffer = Buffer.allocUnsafeSlow(readBytes);
  return {
    name: 'node:net',
    connect({ address, port, localAddress, localPort }, events) {
      const onread: OnReadOpts = {
        buffer,
        callback: (length, bytes) => {
          events.onData(bytes as Buffer, length);
          return true;
        },
      };
      const from = { ...(localAddress && { localAddress }), ...(localPort && { localPort }) };
      const socket = connectTcp({ host: address, port, noDelay: true, ...from, onread });
      socket.on('connect', () => events.onOpen());
      watchEnd(socket, events);
      return connectionOf(socket);
    },
  };
};

/** TLS on plain Node sockets. `onSecure` sees the socket once its handshake is done. */
export const createNodeTlsTransport = (
  options: () => ConnectionOptions,
  onSecure: (socket: TLSSocket) => void = () => {},
): Transport => ({
  name: 'node:tls',
  connect({ address, port, localAddress, localPort }, events) {
    const from = { ...(localAddress && { localAddress }), ...(localPort && { localPort }) };
    const tcp = connectTcp({ host: address, port, noDelay: true, ...from });
    const socket = connectTls({ ...options(), socket: tcp });
    tcp.on('connect', () => events.onConnect?.());
    socket.on('secureConnect', () => {
      onSecure(socket);
      events.onOpen();
    });
    socket.on('data', (bytes) => events.onData(bytes, bytes.length));
    watchEnd(socket, events);
    return connectionOf(socket, tcp);
  },
});
