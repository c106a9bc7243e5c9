import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import type { HostNetwork } from '../host-network.ts';
import { createNodeAlarm } from '../loop/alarm.ts';
import { errorCodeOf } from '../metrics/count-error.ts';
import type { StartTls } from '../tls/start-tls.ts';
import { dialSocket } from './dial-socket.ts';
import { closeServers, listenAll } from './listen-all.ts';
import type {
  Connection,
  ConnectionEvents,
  ConnectionOptions,
  HandshakeFacts,
  Message,
  Route,
  Transport,
} from './transport.ts';

const readBytes = 65_536;

/** The alert that ended a handshake, as named by OpenSSL, or the error code of the socket. */
const tlsCodeOf = (error: Error): string => {
  const alert = /(?:tlsv1|tlsv13|sslv3|ssl\/tls) alert ([a-z ]+)/i.exec(error.message)?.[1];
  return alert === undefined
    ? errorCodeOf(error)
    : `alert.${alert.trim().replace(/ (\w)/g, (_, letter) => letter.toUpperCase())}`;
};

const ignoredEvents: ConnectionEvents = { onOpen() {}, onData() {}, onClose() {} };

/** `tcp` is the socket to reset; with TLS it differs from the one written to. */
class NodeConnection implements Connection {
  events = ignoredEvents;
  readonly #socket: Socket;
  readonly #tcp: Socket;
  #code: string | undefined;

  constructor(socket: Socket, tcp: Socket = socket) {
    this.#socket = socket;
    this.#tcp = tcp;
    // `error` is always emitted before the matching `close`.
    socket.on('error', (error) => {
      this.#code ??= tlsCodeOf(error);
    });
    socket.on('end', () => (this.events.onEnd === undefined ? socket.end() : this.events.onEnd()));
    socket.on('close', () => this.events.onClose(this.#code, performance.now()));
  }

  write(message: Message): void {
    if (this.#socket.writableEnded) return;
    const { onSent } = this.events;
    if (onSent === undefined) this.#socket.write(message.bytes);
    else this.#socket.write(message.bytes, (error) => this.#onWritten(error));
  }

  writeCopy(bytes: Uint8Array): void {
    this.write({ bytes: Uint8Array.from(bytes), address: 0 });
  }

  close(): void {
    this.#socket.end();
  }

  reset(): void {
    if (this.#tcp.connecting || this.#tcp.destroyed) this.#socket.destroy();
    else this.#tcp.resetAndDestroy();
  }

  handshake(): HandshakeFacts {
    const socket = this.#socket as TLSSocket;
    // Null on the side of the server.
    const key = socket.getEphemeralKeyInfo() as { readonly name?: string } | null;
    return {
      version: (socket.getProtocol() ?? '').replace('TLSv', ''),
      cipher: socket.getCipher().name,
      group: key?.name,
      alpn: socket.alpnProtocol === false || socket.alpnProtocol === null ? undefined : socket.alpnProtocol,
      isResumed: socket.isSessionReused(),
    };
  }

  #onWritten(error: Error | null | undefined): void {
    // Deferred: a sender that writes again from `onSent` would otherwise block the event loop.
    if (!error && this.#socket.writableLength === 0) setImmediate(() => this.events.onSent?.(performance.now()));
  }
}

interface SocketFactory {
  readonly name: string;
  connect(route: Route, events: ConnectionEvents): Connection;
  readonly createServer: (onConnection: (socket: Socket) => void) => ReturnType<typeof createTcpServer>;
  readonly hostNetwork?: HostNetwork | undefined;
}

const defaultOptions: ConnectionOptions = {
  noDelay: true,
  keepAliveSec: 0,
  readSize: 'small',
  closesImmediately: false,
};

const chunkOf = (bytes: Buffer, end: number) => ({ bytes, start: 0, end, now: performance.now() });

const createTransport = ({ name, connect, createServer, hostNetwork }: SocketFactory): Transport => ({
  name,
  createAlarm: createNodeAlarm,
  prepareMessage: (bytes) => ({ bytes, address: 0 }),
  connect,
  async listen({ host, port, isShared }, accept) {
    let count = 0;
    const create = () =>
      createServer((socket) => {
        count++;
        socket.on('close', () => count--);
        const connection = new NodeConnection(socket);
        const events = accept(connection);
        connection.events = events;
        socket.on('data', (bytes) => events.onData(chunkOf(bytes, bytes.length)));
      });
    const servers = await listenAll([{ host, port }], create, { core: { count: isShared ? 2 : 1 }, hostNetwork });
    return {
      port,
      async close() {
        await closeServers(servers);
        // `close` of connections is emitted a little later than that of the server.
        for (let iterations = 0; count > 0 && iterations < 100; iterations++) await new Promise(setImmediate);
      },
    };
  },
  async close() {},
});

/** TCP on Node's sockets. All connections share one read buffer: its content is handed on before the next read. */
export const createNodeTransport = (options: ConnectionOptions = defaultOptions): Transport => {
  const buffer = Buffer.allocUnsafeSlow(readBytes);
  const { noDelay, keepAliveSec } = options;
  const keepAlive = { keepAlive: keepAliveSec > 0, keepAliveInitialDelay: keepAliveSec * 1000 };
  return createTransport({
    name: 'node:net',
    connect(route, events) {
      const socket = dialSocket(route, {
        noDelay,
        ...keepAlive,
        allowHalfOpen: true,
        onread: {
          buffer,
          callback(length, bytes) {
            events.onData(chunkOf(bytes as Buffer, length));
            return true;
          },
        },
      });
      const connection = new NodeConnection(socket);
      connection.events = events;
      socket.on('connect', () => events.onOpen(performance.now()));
      return connection;
    },
    createServer: (onConnection) => createTcpServer({ noDelay, allowHalfOpen: true }, onConnection),
  });
};

export interface NodeTlsOptions {
  /** Needed to connect. */
  readonly startTls?: StartTls;
  readonly server?: TlsOptions;
  /** Called on a server when a client's handshake fails. */
  readonly onHandshakeError?: (code: string) => void;
  /** Emulated hosts instead of the sockets of the kernel. */
  readonly hostNetwork?: HostNetwork | undefined;
}

/** TLS on Node's sockets. */
export const createNodeTlsTransport = ({
  startTls,
  server,
  onHandshakeError,
  hostNetwork,
}: NodeTlsOptions): Transport =>
  createTransport({
    name: 'node:tls',
    hostNetwork,
    connect(route, events) {
      if (startTls === undefined) throw new Error('this transport only listens');
      const tcp = dialSocket({ ...route, via: hostNetwork });
      const socket = startTls(tcp, route);
      const connection = new NodeConnection(socket, tcp);
      connection.events = events;
      tcp.on('connect', () => events.onConnect?.());
      socket.on('secureConnect', () => {
        if (socket.isSessionReused()) events.onResume?.();
        events.onOpen(performance.now());
      });
      socket.on('session', () => events.onTicket?.());
      socket.on('data', (bytes) => events.onData(chunkOf(bytes, bytes.length)));
      return connection;
    },
    createServer: (onConnection) =>
      createTlsServer(server ?? {}, onConnection).on('tlsClientError', (error) => onHandshakeError?.(tlsCodeOf(error))),
  });
