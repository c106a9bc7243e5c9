import { type ClientHttp2Session, connect } from 'node:http2';
import { errorCodeOf } from '../../net/metrics/count-error.ts';
import type { StartTls } from '../../net/tls/start-tls.ts';
import { dialSocket } from '../../net/transport/dial-socket.ts';
import type { Route } from '../../net/transport/transport.ts';
import type { MessageTransport, MessageTransportEvents } from './message-transport.ts';

/** Queries over HTTP/2 (RFC 8484), one stream each. */
export class DohTransport implements MessageTransport {
  readonly #route: () => Route;
  readonly #startTls: StartTls;
  readonly #target: { readonly authority: string; readonly path: string };
  readonly #events: MessageTransportEvents;
  #session: ClientHttp2Session | undefined;

  constructor(
    route: () => Route,
    startTls: StartTls,
    target: { readonly authority: string; readonly path: string },
    events: MessageTransportEvents,
  ) {
    this.#route = route;
    this.#startTls = startTls;
    this.#target = target;
    this.#events = events;
  }

  send(message: Buffer, token: number): void {
    this.#session ??= this.#open();
    const stream = this.#session.request({
      ':method': 'POST',
      ':path': this.#target.path,
      'content-type': 'application/dns-message',
      accept: 'application/dns-message',
      'content-length': message.length,
    });
    const parts: Buffer[] = [];
    let status = 0;
    let failure: string | undefined;
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0;
    });
    stream.on('data', (bytes: Buffer) => parts.push(bytes));
    stream.on('error', (error) => {
      failure ??= errorCodeOf(error);
    });
    stream.on('close', () => {
      if (failure === undefined && status === 200) {
        const bytes = Buffer.concat(parts);
        this.#events.onAnswer(token, { bytes, start: 0, end: bytes.length, now: performance.now() });
      } else this.#events.onFail(token, failure ?? (status === 0 ? 'closed' : `http${status}`));
    });
    stream.end(Buffer.from(message));
  }

  forget(): void {}

  close(): void {
    this.#session?.destroy();
  }

  #open(): ClientHttp2Session {
    const beganAt = performance.now();
    const route = this.#route();
    const socket = this.#startTls(dialSocket(route), route);
    const session = connect(`https://${this.#target.authority}`, { createConnection: () => socket });
    session.on('connect', () =>
      this.#events.onConnect({ ms: performance.now() - beganAt, isResumed: socket.isSessionReused() }),
    );
    // Each stream reports the failure of its own query.
    session.on('error', () => {});
    session.on('close', () => {
      if (this.#session === session) this.#session = undefined;
    });
    return session;
  }
}
