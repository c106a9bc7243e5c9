import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { codeOf } from '../../net/error-kind.ts';
import type { Route } from '../../net/transport.ts';
import { type Channel, Inbox, type Wait } from './channel.ts';

/** Datagrams between two ends: by a socket of its own, or as one peer of a socket that many share. */
export class DatagramChannel implements Channel {
  readonly #inbox = new Inbox('datagrams');
  readonly #send: (bytes: Uint8Array) => void;
  readonly #leave: () => void;
  #isOver = false;

  constructor(send: (bytes: Uint8Array) => void, leave: () => void) {
    this.#send = send;
    this.#leave = leave;
  }

  /** Comes back with its failure where it cannot be opened. */
  static async connect({ address, port, localAddress, localPort }: Route): Promise<DatagramChannel> {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    const channel = new DatagramChannel(
      (bytes) => socket.send(bytes),
      () => socket.close(),
    );
    socket.on('message', (bytes) => channel.arrive(bytes));
    socket.on('error', (error) => channel.#inbox.end(codeOf(error)));
    try {
      socket.bind({ ...(localAddress && { address: localAddress }), ...(localPort && { port: localPort }) });
      await once(socket, 'listening');
      socket.connect(port, address);
      await once(socket, 'connect');
    } catch (error) {
      channel.#inbox.end(codeOf(error as Error));
    }
    return channel;
  }

  /** One peer of a shared socket. */
  static of(socket: Socket, { port, address }: RemoteInfo, leave: () => void): DatagramChannel {
    return new DatagramChannel((bytes) => socket.send(bytes, port, address), leave);
  }

  get length(): number {
    return this.#inbox.length;
  }
  get failure(): string | undefined {
    return this.#inbox.failure;
  }

  arrive(bytes: Buffer): void {
    this.#inbox.add(bytes);
  }

  peek(): Buffer {
    return this.#inbox.peek();
  }
  take(count: number): Buffer {
    return this.#inbox.take(count);
  }
  wait(count: number, timeoutMs: number): Promise<Wait> {
    return this.#inbox.wait(count, timeoutMs);
  }

  send(bytes: Uint8Array): void {
    if (!this.#isOver) this.#send(bytes);
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#inbox.end('closed');
    this.#leave();
  }

  reset(): void {
    this.close();
  }
}
