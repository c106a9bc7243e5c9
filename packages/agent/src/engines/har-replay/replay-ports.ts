import { createServer as createHttp } from 'node:http';
import { createServer as createH2 } from 'node:http2';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import { errorCodeOf } from '../../net/metrics/count-error.ts';
import type { SecureSocket, SecureSockets } from '../../net/secure-sockets.ts';
import type { NodeReply, NodeRequest } from './server/node-reply.ts';

const handshakeByte = 0x16;
const keepAliveMs = 75_000;

export interface PortDeps {
  /** Begins TLS; sockets are given to `onSecure` after their handshake. */
  readonly createSecure: (onSecure: (socket: SecureSocket) => void) => SecureSockets;
  readonly onRequest: (request: NodeRequest, reply: NodeReply) => void;
  readonly onSocket: (socket: Socket) => void;
  readonly onError: (code: string) => void;
}

/** Whether the first bytes are the HTTP/2 preface; undefined when there are too few. */
const isPreface = (bytes: Buffer): boolean | undefined => {
  const preface = 'PRI';
  const text = bytes.toString('latin1', 0, preface.length);
  if (text === preface) return true;
  return preface.startsWith(text) ? undefined : false;
};

/** What listens on the ports. */
export interface ReplayPorts {
  create(): Server;
  close(): Promise<void>;
}

/** Servers that accept HTTP/1.1 and HTTP/2, with and without TLS, on one port. */
export const createReplayPorts = ({ createSecure, onRequest, onSocket, onError }: PortDeps): ReplayPorts => {
  const reportError = (error: Error) => onError(errorCodeOf(error));
  const plain = createHttp({ noDelay: true, maxHeaderSize: 262_144, keepAliveTimeout: keepAliveMs }, onRequest);
  const h2 = createH2({ maxHeaderListPairs: 2000 }, onRequest).on('sessionError', reportError);
  const secure = createSecure((socket) => {
    socket.on('error', reportError);
    (socket.alpnProtocol === 'h2' ? h2 : plain).emit('connection', socket);
  });
  plain.on('clientError', (error, socket) => {
    reportError(error);
    socket.destroy();
  });

  const hand = (socket: Socket, first: Buffer): boolean => {
    const isH2 = isPreface(first);
    if (isH2 === undefined) return false;
    socket.off('error', reportError);
    if (first[0] === handshakeByte) secure.take(socket);
    else (isH2 ? h2 : plain).emit('connection', socket);
    return true;
  };

  /** Peeks at the first bytes. */
  const look = (socket: Socket): void => {
    const first = socket.read() as Buffer | null;
    if (first !== null) socket.unshift(first);
    if (first === null || !hand(socket, first)) socket.once('readable', () => look(socket));
  };

  const create = () =>
    createTcp({ noDelay: true }, (socket) => {
      onSocket(socket);
      socket.on('error', reportError);
      socket.once('readable', () => look(socket));
    });
  return { create, close: () => secure.close() };
};
