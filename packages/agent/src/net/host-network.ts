import type { Duplex } from 'node:stream';
import type { DatagramTransport } from './datagram/datagram-transport.ts';
import type { ConnectionOptions, Dialer, Transport } from './transport/transport.ts';

/** Transports of emulated hosts, for jobs that do not use the sockets of the kernel. */
export interface HostNetwork extends Dialer {
  /** Addresses of the hosts. */
  readonly addresses: readonly string[];
  createTransport(options: ConnectionOptions): Transport;
  createDatagrams(): DatagramTransport;
  /** Streams of the connections to a port. Returns a function that stops listening. */
  serve(
    where: { readonly host: string; readonly port: number },
    onSocket: (socket: Duplex) => void,
  ): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
