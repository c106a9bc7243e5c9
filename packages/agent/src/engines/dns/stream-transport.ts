import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { errorCodeOf } from '../../net/metrics/count-error.ts';
import type { StartTls } from '../../net/tls/start-tls.ts';
import { dialSocket } from '../../net/transport/dial-socket.ts';
import type { Route } from '../../net/transport/transport.ts';
import { Deframer, frame } from './framing.ts';
import type { MessageTransport, MessageTransportEvents } from './message-transport.ts';

/** Queries over TCP or TLS. The connection is opened on demand and reopened after the server closes it. */
export class StreamTransport implements MessageTransport {
  readonly #route: () => Route;
  readonly #startTls: StartTls | undefined;
  readonly #events: MessageTransportEvents;
  readonly #waiting = new Set<number>();
  #socket: Socket | undefined;
  #isClosed = false;

  constructor(route: () => Route, startTls: StartTls | undefined, events: MessageTransportEvents) {
    this.#route = route;
    this.#startTls = startTls;
    this.#events = events;
  }

  send(message: Buffer, token: number): void {
    this.#waiting.add(token);
    this.#socket ??= this.#open();
    this.#socket.write(frame(message));
  }

  forget(token: number): void {
    this.#waiting.delete(token);
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
  }

  #open(): Socket {
    const beganAt = performance.now();
    const route = this.#route();
    const tcp = dialSocket(route);
    const socket = this.#startTls?.(tcp, route) ?? tcp;
    const deframer = new Deframer();
    let failure: string | undefined;
    socket.on(this.#startTls === undefined ? 'connect' : 'secureConnect', () =>
      this.#events.onConnect({
        ms: performance.now() - beganAt,
        isResumed: this.#startTls !== undefined && (socket as TLSSocket).isSessionReused(),
      }),
    );
    socket.on('data', (bytes: Buffer) =>
      deframer.feed(bytes, (message) => {
        if (message.length < 2) return;
        const token = message.readUInt16BE(0);
        this.#waiting.delete(token);
        this.#events.onAnswer(token, { bytes: message, start: 0, end: message.length, now: performance.now() });
      }),
    );
    socket.on('error', (error) => {
      failure ??= errorCodeOf(error);
    });
    socket.on('close', () => this.#onClose(failure));
    return socket;
  }

  #onClose(failure: string | undefined): void {
    this.#socket = undefined;
    if (this.#isClosed) return;
    const lost = [...this.#waiting];
    this.#waiting.clear();
    for (const token of lost) this.#events.onFail(token, failure ?? 'closed');
  }
}
