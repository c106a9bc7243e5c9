import type { Socket } from 'node:dgram';
import type { Duplex } from 'node:stream';
import type { DatagramTransport } from './datagram/datagram-transport.ts';
import type { ConnectionOptions, Route, Transport } from './transport/transport.ts';

/** Transports of emulated hosts, for jobs that do not use the sockets of the kernel. */
export interface HostNetwork {
  /** Addresses of the hosts. */
  readonly addresses: readonly string[];
  createTransport(options: ConnectionOptions): Transport;
  createDatagrams(): DatagramTransport;
  /** A datagram socket in the shape of Node's own. */
  createDatagramSocket(): Socket & { listen(where: { readonly host: string; readonly port: number }): Promise<void> };
  /** A connection as a stream, for TLS and HTTP/2 of Node. */
  dial(route: Route): Duplex;
  /** Streams of the connections to a port. Returns a function that stops listening. */
  serve(
    where: { readonly host: string; readonly port: number },
    onSocket: (socket: Duplex) => void,
  ): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
