import { performance } from 'node:perf_hooks';
import { H2Connection, type H2Events, type Header, h2Error } from '@rushhour/wire';
import type { Chunk, Connection, ConnectionEvents, Route } from '../../../net/transport/transport.ts';
import type { TcpCarrierContext } from './carrier.ts';
import { StreamCarrier } from './stream-carrier.ts';

/** HTTP/2. */
export class H2Carrier extends StreamCarrier<Connection, H2Connection> implements ConnectionEvents, H2Events {
  readonly #context: TcpCarrierContext;
  #connectedAt = 0;
  #isBatching = false;

  constructor(context: TcpCarrierContext) {
    super(context);
    this.#context = context;
  }

  onConnect(): void {
    this.#connectedAt = performance.now();
    this.target.meters.connect.record((this.#connectedAt - this.connectAt) * 1000);
  }

  onResume(): void {
    this.target.meters.resumed();
  }

  onOpen(now: number): void {
    this.now = now;
    if (this.isClosing) return;
    const { meters } = this.target;
    const connection = this.connection as Connection;
    if (this.#context.config.tls === undefined) meters.connect.record((now - this.connectAt) * 1000);
    else {
      meters.tls.record((now - this.#connectedAt) * 1000);
      if (connection.handshake?.().alpn !== 'h2') {
        this.fail('alpn');
        return;
      }
    }
    const write = (bytes: Uint8Array): void => {
      meters.txBytes.add(bytes.length);
      connection.writeCopy(bytes);
    };
    this.session = new H2Connection({ isServer: false, write }, this);
    this.session.start();
    meters.connections.add(1);
    this.#batch(() => this.sendWaiting(now));
    this.closeIfDone();
  }

  onData({ bytes, start, end, now }: Chunk): void {
    this.now = now;
    this.target.meters.rxBytes.add(end - start);
    this.#batch(() => {
      if (this.session?.feed(bytes, start, end) !== undefined) this.fail('protocol');
    });
  }

  onReset(id: number, code: number): void {
    this.failStream(id, code === h2Error.refusedStream ? 'refusedStream' : 'reset', this.now);
  }

  protected connect(route: Route): Connection {
    this.#connectedAt = this.connectAt;
    return this.#context.transport.connect(route, this);
  }

  protected openStream(): number {
    return 0;
  }

  protected writeRequest(
    h2: H2Connection,
    _opened: number,
    request: readonly [readonly Header[], Buffer | undefined],
  ): number {
    return h2.request(...request);
  }

  protected cancelStream(h2: H2Connection, id: number): void {
    h2.reset(id, h2Error.cancel);
  }

  protected forgetStream(): void {}

  protected flush(): void {
    if (!this.#isBatching) this.session?.flush();
  }

  protected close(connection: Connection): void {
    this.session?.goaway();
    connection.close();
  }

  protected abort(connection: Connection): void {
    connection.reset();
  }

  /** Frames are collected and sent together. */
  #batch(work: () => void): void {
    this.#isBatching = true;
    work();
    this.#isBatching = false;
    this.flush();
  }
}
