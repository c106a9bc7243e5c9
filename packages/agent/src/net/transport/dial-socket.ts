import { connect, type Socket } from 'node:net';
import type { HostNetwork } from '../host-network.ts';
import type { Route } from './transport.ts';

export const localEndpointOf = ({ localAddress, localPort }: Route) => ({
  ...(localAddress && { localAddress }),
  ...(localPort && { localPort }),
});

/** A TCP connection as a socket of Node: of the kernel, or of an emulated host, which has what TLS and HTTP use. */
export const dialSocket = (route: Route, hostNetwork: HostNetwork | undefined): Socket =>
  hostNetwork === undefined
    ? connect({ host: route.address, port: route.port, noDelay: true, ...localEndpointOf(route) })
    : (hostNetwork.dial(route) as Socket);
