import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { TlsClientSettings } from '@rushhour/protocol';
import type { Route } from '../transport/transport.ts';
import { clientTlsOptions } from './tls-options.ts';

/** Begins a TLS handshake as client on the connection `tcp` to the endpoint of `route`. */
export type StartTls = (tcp: Socket, route: Route) => TLSSocket;

/** With `resumption`, offers the newest session of the endpoint; servers accept a ticket more than once. */
export const createStartTls = (settings: TlsClientSettings, alpn?: readonly string[]): StartTls => {
  const options = clientTlsOptions(settings, alpn);
  if (settings.resumption === 'none') return (tcp) => connect({ ...options, socket: tcp });
  const sessions = new Map<string, Buffer>();
  return (tcp, { address, port }) => {
    const endpoint = `${address} ${port}`;
    const offered = sessions.get(endpoint);
    const socket = connect({ ...options, socket: tcp, ...(offered && { session: offered }) });
    socket.on('session', (session: Buffer) => sessions.set(endpoint, session));
    socket.on('secureConnect', () => {
      const isRefused = offered !== undefined && !socket.isSessionReused();
      if (isRefused && sessions.get(endpoint) === offered) sessions.delete(endpoint);
    });
    return socket;
  };
};
