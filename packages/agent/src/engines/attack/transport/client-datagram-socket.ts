import type { Socket } from 'node:dgram';
import type { ClientObservation } from '@rushhour/protocol';
import { openDatagramSocket } from '../../../net/datagram/open-datagram-socket.ts';
import { errorCodeOf } from '../../../net/metrics/count-error.ts';
import { isLocalSocketError } from '../../../net/metrics/generator-load-metrics.ts';
import type { AttackRoute } from './client-connection.ts';

/** A connected datagram socket of a client. Network errors never throw. */
export class ClientDatagramSocket {
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  readonly #startedAt = performance.now();
  readonly #waiting: Buffer[] = [];
  #onChange: () => void = () => {};
  ownError: string | undefined;
  connect: ClientObservation['connect'] = 'none';
  ip = '';
  port = 0;
  ttfbMs = 0;

  private constructor(route: AttackRoute) {
    this.#timeoutMs = route.timeoutMs;
    this.#socket = openDatagramSocket(route.address, route.via);
    this.#socket.on('message', (bytes) => {
      if (this.ttfbMs === 0) this.ttfbMs = performance.now() - this.#startedAt;
      this.#waiting.push(bytes);
      this.#onChange();
    });
    this.#socket.on('error', (error) => this.#fail(errorCodeOf(error)));
  }

  static async open(route: AttackRoute): Promise<ClientDatagramSocket> {
    const connection = new ClientDatagramSocket(route);
    const { address, port, localAddress, localPort } = route;
    const from = { ...(localAddress && { address: localAddress }), ...(localPort && { port: localPort }) };
    await new Promise<void>((resolve) => {
      connection.#socket.once('error', () => resolve());
      connection.#socket.bind(from, () =>
        connection.#socket.connect(port, address, () => {
          const own = connection.#socket.address();
          connection.ip = own.address;
          connection.port = own.port;
          connection.connect = 'ok';
          resolve();
        }),
      );
    });
    return connection;
  }

  get isOpen(): boolean {
    return this.connect === 'ok';
  }

  send(bytes: Uint8Array): Promise<boolean> {
    return new Promise((resolve) => {
      if (!this.isOpen) resolve(false);
      else
        this.#socket.send(bytes, (error) => {
          if (error) this.#fail(errorCodeOf(error));
          resolve(!error);
        });
    });
  }

  /** The next datagram that matches; undefined after the timeout. */
  async receive(isWanted: (bytes: Buffer) => boolean = () => true): Promise<Buffer | undefined> {
    const { promise, resolve } = Promise.withResolvers<Buffer | undefined>();
    const timer = setTimeout(() => resolve(undefined), this.#timeoutMs);
    const look = () => {
      const at = this.#waiting.findIndex(isWanted);
      if (at >= 0) resolve(this.#waiting.splice(at, 1)[0]);
      else if (!this.isOpen) resolve(undefined);
    };
    this.#onChange = look;
    look();
    const received = await promise;
    clearTimeout(timer);
    this.#onChange = () => {};
    return received;
  }

  close(): void {
    this.#socket.close();
  }

  #fail(code: string): void {
    if (isLocalSocketError(code)) this.ownError = code;
    this.connect = code === 'ECONNREFUSED' ? 'refused' : 'unreachable';
    this.#onChange();
  }
}
