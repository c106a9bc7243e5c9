import { type H3Events, type Header, sendable } from '@rushhour/wire';
import { H3Carrier } from '../../../net/quic/h3-carrier.ts';
import type { QuicConnection, QuicConnectionEvents, QuicStream } from '../../../net/quic/quic.ts';
import type { ByteCounters } from '../client/http-connection.ts';
import { type Outgoing, type Requested, type Responder, requestedOf } from './responder.ts';

interface H3ReplayDeps {
  readonly responder: Responder;
  readonly counters: ByteCounters;
  readonly onError: (code: string) => void;
}

interface Asked {
  readonly fields: ReadonlyMap<string, string>;
  readonly body: Buffer[];
}

const requestOf = ({ fields, body }: Asked): Requested =>
  requestedOf({
    method: fields.get(':method'),
    url: fields.get(':path'),
    fieldOf: (name) => fields.get(name),
    body,
  });

/** Answers recorded requests over one HTTP/3 connection. */
export class H3ReplayServer implements QuicConnectionEvents, H3Events {
  readonly #deps: H3ReplayDeps;
  readonly #carrier: H3Carrier;
  readonly #asked = new Map<number, Asked>();
  /** Bodies that wait until the client has taken what was sent. */
  readonly #heldUp = new Map<number, () => void>();

  constructor(connection: QuicConnection, deps: H3ReplayDeps) {
    this.#deps = deps;
    this.#carrier = new H3Carrier(connection, { isServer: true, events: this, onFail: () => deps.onError('protocol') });
  }

  onOpen(): void {
    this.#carrier.h3.start();
  }

  onStream(stream: QuicStream) {
    return this.#carrier.accept(stream);
  }

  onBytes(direction: 'sent' | 'received', count: number): void {
    const { txBytes, rxBytes } = this.#deps.counters;
    (direction === 'sent' ? txBytes : rxBytes).add(count);
  }

  onHeaders(stream: number, headers: readonly Header[], isEnd: boolean): void {
    this.#asked.set(stream, { fields: new Map(headers), body: [] });
    if (isEnd) this.#answer(stream);
  }

  onBody(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    this.#asked.get(stream)?.body.push(Buffer.from(bytes.subarray(start, end)));
    if (isEnd) this.#answer(stream);
  }

  onDrained(stream: number): void {
    this.#heldUp.get(stream)?.();
    this.#heldUp.delete(stream);
  }

  onReset(stream: number): void {
    this.#asked.delete(stream);
    this.onDrained(stream);
    this.#deps.onError('reset');
  }

  onClose(code: string | undefined): void {
    this.#asked.clear();
    for (const stream of [...this.#heldUp.keys()]) this.onDrained(stream);
    if (code !== undefined) this.#deps.onError(code);
  }

  #answer(stream: number): void {
    const asked = this.#asked.get(stream);
    if (asked === undefined) return;
    const { responder, onError } = this.#deps;
    responder
      .answer(requestOf(asked))
      .then((outgoing) => this.#send(stream, outgoing))
      .catch(() => {
        onError('internal');
        if (this.#asked.delete(stream)) this.#carrier.h3.respond(stream, [[':status', '500']]);
      });
  }

  async #send(stream: number, { status, headers, body }: Outgoing): Promise<void> {
    if (!this.#asked.has(stream)) return;
    const { h3 } = this.#carrier;
    const list: Header[] = [[':status', String(status)]];
    for (const { name, values } of headers) {
      list.push(...values.map((value) => sendable(name, value)).filter((header) => header !== undefined));
    }
    const isWhole = body === undefined || Buffer.isBuffer(body);
    h3.respond(stream, list, isWhole ? body : undefined, isWhole);
    if (!isWhole) {
      for await (const part of body) {
        await this.#untilRoom(stream);
        if (!this.#asked.has(stream)) return;
        h3.data(stream, part as Buffer, false);
      }
      h3.data(stream, Buffer.alloc(0), true);
    }
    this.#asked.delete(stream);
    this.#carrier.forget(stream);
  }

  #untilRoom(stream: number): Promise<void> | undefined {
    if (!this.#carrier.isHeldUp(stream)) return undefined;
    return new Promise((resolve) => this.#heldUp.set(stream, resolve));
  }
}
