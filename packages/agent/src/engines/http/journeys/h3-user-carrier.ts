import { type H3Events, type Header, h3Error } from '@rushhour/wire';
import { H3Carrier } from '../../../net/quic/h3-carrier.ts';
import { PacketObserver } from '../../../net/quic/packet-observer.ts';
import {
  maxRequestsOfClient,
  type QuicConnection,
  type QuicConnectionEvents,
  type QuicStream,
} from '../../../net/quic/quic.ts';
import type { QuicClient } from '../../../net/quic/quic-client.ts';
import { isWatched } from '../../../net/quic/quic-meters.ts';
import type { Route } from '../../../net/transport/transport.ts';
import type { CarrierContext } from './carrier.ts';
import { StreamCarrier } from './stream-carrier.ts';

export interface QuicCarrierContext extends CarrierContext {
  readonly quic: QuicClient;
}

/** HTTP/3. */
export class H3UserCarrier extends StreamCarrier<QuicConnection, H3Carrier> implements QuicConnectionEvents, H3Events {
  readonly #quic: QuicClient;
  readonly #isWatched: boolean;
  #observer: PacketObserver | undefined;

  constructor({ quic, ...context }: QuicCarrierContext) {
    super(context, maxRequestsOfClient);
    this.#quic = quic;
    this.#isWatched = isWatched(context.index);
  }

  onOpen(now: number): void {
    this.now = now;
    if (this.isClosing) return;
    const { meters } = this.target;
    const connection = this.connection as QuicConnection;
    meters.quicHandshake((now - this.connectAt) * 1000);
    if (connection.handshake().isResumed) meters.resumed();
    if (this.#isWatched) this.#observer = new PacketObserver(connection, meters.packets());
    const onFail = () => {
      this.failure ??= 'protocol';
    };
    this.session = new H3Carrier(connection, { isServer: false, events: this, onFail });
    this.session.h3.start();
    meters.connections.add(1);
    this.sendWaiting(now);
    this.closeIfDone();
  }

  override onClose(code: string | undefined, now: number): void {
    this.#observer?.close();
    this.#observer = undefined;
    super.onClose(code, now);
  }

  onStream(stream: QuicStream) {
    return (this.session as H3Carrier).accept(stream);
  }

  onRoom(now: number): void {
    this.sendWaiting(now);
  }

  onRead(now: number): void {
    this.now = now;
  }

  onBytes(direction: 'sent' | 'received', count: number): void {
    const { meters } = this.target;
    (direction === 'sent' ? meters.txBytes : meters.rxBytes).add(count);
  }

  onReset(id: number, code: number): void {
    this.failStream(id, code === h3Error.requestRejected ? 'refusedStream' : 'reset', this.now);
  }

  protected connect(route: Route): QuicConnection {
    return this.#quic.connect(route, this);
  }

  protected openStream(carrier: H3Carrier): number {
    return carrier.openRequest();
  }

  protected writeRequest(
    { h3 }: H3Carrier,
    id: number,
    request: readonly [readonly Header[], Buffer | undefined],
  ): number {
    h3.request(id, ...request);
    return id;
  }

  protected cancelStream({ h3 }: H3Carrier, id: number): void {
    h3.reset(id, h3Error.requestCancelled);
  }

  protected forgetStream(carrier: H3Carrier, id: number): void {
    carrier.forget(id);
  }

  protected flush(): void {}

  protected close(connection: QuicConnection): void {
    connection.close(h3Error.none);
  }

  protected abort(connection: QuicConnection): void {
    connection.close(h3Error.none);
  }
}
