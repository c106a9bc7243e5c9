import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HarOrigin } from '@rushhour/protocol';
import { errorCodeOf } from '../../../net/metrics/count-error.ts';
import type { DialedSocket, SecureDialer, SessionStore } from '../../../net/tls/dialer.ts';
import { dialSocket } from '../../../net/transport/dial-socket.ts';
import type { Route } from '../../../net/transport/transport.ts';
import { H1Connection } from './h1-connection.ts';
import { H2Connection } from './h2-connection.ts';
import { type ByteCounters, ByteMeter, ConnectionError, type HttpConnection } from './http-connection.ts';

export interface DialOptions {
  readonly route: Route;
  readonly origin: HarOrigin;
  readonly dialer: SecureDialer;
  /** TLS sessions to resume; undefined: full handshakes only. */
  readonly sessions: SessionStore | undefined;
  readonly counters: ByteCounters;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Opening {
  readonly socket: Duplex;
  /** The socket whose bytes are counted. */
  readonly tcp: Socket;
  readonly ready: string;
}

const open = ({ route, origin, dialer, sessions }: DialOptions): Opening => {
  const tcp = dialSocket(route);
  if (!origin.isTls) return { socket: tcp, tcp, ready: 'connect' };
  const socket = dialer.dial(tcp, {
    address: route.address,
    alpn: origin.version === '1.1' ? ['http/1.1'] : ['h2', 'http/1.1'],
    serverName: isIP(origin.host) === 0 ? origin.host : undefined,
    resumes: sessions && { store: sessions, key: origin.authority },
  });
  return { socket, tcp, ready: 'secureConnect' };
};

const speaksH2 = ({ isTls, version }: HarOrigin, socket: Duplex): boolean =>
  isTls ? (socket as DialedSocket).alpnProtocol === 'h2' : version !== '1.1';

/** Opens a connection to the endpoint of an origin. Rejects with a `ConnectionError`. */
export const dial = (options: DialOptions): Promise<HttpConnection> => {
  const { promise, resolve, reject } = Promise.withResolvers<HttpConnection>();
  const { origin, counters, timeoutMs, signal } = options;
  const { socket, tcp, ready } = open(options);
  const fail = (code: string) => {
    clearTimeout(timer);
    reject(new ConnectionError(code));
    socket.destroy();
  };
  const timer = setTimeout(() => fail('connectTimeout'), timeoutMs);
  const onError = (error: Error) => fail(errorCodeOf(error));
  const onClose = () => fail('closed');
  const onAbort = () => fail('closed');
  signal.addEventListener('abort', onAbort, { once: true });
  socket.once('error', onError).once('close', onClose);
  socket.once(ready, () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    socket.off('error', onError).off('close', onClose);
    const meter = new ByteMeter(tcp, counters);
    resolve(speaksH2(origin, socket) ? new H2Connection(socket, meter) : new H1Connection(socket, meter));
  });
  return promise.finally(() => signal.removeEventListener('abort', onAbort));
};
