import type { RemoteInfo, Socket } from 'node:dgram';
import { once } from 'node:events';
import { openDatagramSocket } from '../../../net/datagram/open-datagram-socket.ts';
import { errorCodeOf } from '../../../net/metrics/count-error.ts';
import type { Route } from '../../../net/transport/transport.ts';
import { InboxChannel } from './channel.ts';

/** A flow of datagrams: on its own socket, or one peer of a shared socket. */
export class DatagramChannel extends InboxChannel {
  readonly #send: (bytes: Uint8Array) => void;
  readonly #leave: () => void;
  #isOver = false;

  constructor(send: (bytes: Uint8Array) => void, leave: () => void) {
    super('datagrams');
    this.#send = send;
    this.#leave = leave;
  }

  /** A channel that cannot be opened has `failure` set. */
  static async connect({ address, port, localAddress, localPort, via }: Route): Promise<DatagramChannel> {
    const socket = openDatagramSocket(address, via);
    const channel = new DatagramChannel(
      (bytes) => socket.send(bytes),
      () => socket.close(),
    );
    socket.on('message', (bytes) => channel.arrive(bytes));
    socket.on('error', (error) => channel.inbox.end(errorCodeOf(error)));
    try {
      socket.bind({ ...(localAddress && { address: localAddress }), ...(localPort && { port: localPort }) });
      await once(socket, 'listening');
      socket.connect(port, address);
      await once(socket, 'connect');
    } catch (error) {
      channel.inbox.end(errorCodeOf(error as Error));
    }
    return channel;
  }

  /** One peer of a shared socket. */
  static of(socket: Socket, { port, address }: RemoteInfo, leave: () => void): DatagramChannel {
    return new DatagramChannel((bytes) => socket.send(bytes, port, address), leave);
  }

  arrive(bytes: Buffer): void {
    this.inbox.add(bytes);
  }

  override send(bytes: Uint8Array): void {
    if (!this.#isOver) this.#send(bytes);
  }

  override close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.inbox.end('closed');
    this.#leave();
  }

  override reset(): void {
    this.close();
  }
}
