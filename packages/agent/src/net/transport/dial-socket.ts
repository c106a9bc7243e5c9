import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import type { Route } from './transport.ts';

/** A TCP connection as a socket of Node: of the kernel, or of an emulated host, which has what TLS and HTTP use. */
export const dialSocket = (route: Route, options: Partial<TcpNetConnectOpts> = {}): Socket => {
  const { address, port, localAddress, localPort, via } = route;
  if (via !== undefined) return via.dial(route) as Socket;
  const from = { ...(localAddress && { localAddress }), ...(localPort && { localPort }) };
  return connect({ host: address, port, noDelay: true, ...from, ...options });
};
