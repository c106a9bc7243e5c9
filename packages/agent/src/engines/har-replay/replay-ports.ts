import { createServer as createHttp } from 'node:http';
import { createServer as createH2, createSecureServer } from 'node:http2';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { errorCodeOf } from '../../net/metrics/count-error.ts';
import type { NodeReply, NodeRequest } from './node-reply.ts';

const handshakeByte = 0x16;
const keepAliveMs = 75_000;

export interface PortDeps {
  readonly tls: TlsOptions;
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

/** Servers that accept HTTP/1.1 and HTTP/2, with and without TLS, on one port. */
export const createReplayPorts = ({ tls, onRequest, onSocket, onError }: PortDeps): (() => Server) => {
  const reportError = (error: Error) => onError(errorCodeOf(error));
  const plain = createHttp({ noDelay: true, maxHeaderSize: 262_144, keepAliveTimeout: keepAliveMs }, onRequest);
  const h2 = createH2(onRequest).on('sessionError', reportError);
  const secure = createSecureServer({ ...tls, allowHTTP1: true, maxHeaderListPairs: 2000 }, onRequest);
  Object.assign(secure, { keepAliveTimeout: keepAliveMs });
  secure.on('sessionError', reportError).on('tlsClientError', reportError);
  plain.on('clientError', (error, socket) => {
    reportError(error);
    socket.destroy();
  });

  const hand = (socket: Socket, first: Buffer): boolean => {
    const isH2 = isPreface(first);
    if (isH2 === undefined) return false;
    const server = first[0] === handshakeByte ? secure : isH2 ? h2 : plain;
    socket.off('error', reportError);
    server.emit('connection', socket);
    return true;
  };

  /** Peeks at the first bytes. */
  const look = (socket: Socket): void => {
    const first = socket.read() as Buffer | null;
    if (first !== null) socket.unshift(first);
    if (first === null || !hand(socket, first)) socket.once('readable', () => look(socket));
  };

  return () =>
    createTcp({ noDelay: true }, (socket) => {
      onSocket(socket);
      socket.on('error', reportError);
      socket.once('readable', () => look(socket));
    });
};
