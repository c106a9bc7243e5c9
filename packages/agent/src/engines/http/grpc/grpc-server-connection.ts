import type { GrpcSettings } from '@rushhour/protocol';
import { GrpcError, GrpcReader, grpcStatus, H2Connection, type H2Events, type Header } from '@rushhour/wire';
import { messagesOf } from '../../../net/load/payload.ts';
import { cyclerOf } from '../../../net/load/rotation.ts';
import type { IndexedMember, IndexedSet } from '../../../net/loop/indexed-set.ts';
import type { Chunk, Connection, ConnectionEvents } from '../../../net/transport/transport.ts';
import type { ServerMeters } from '../meters.ts';
import { decompressed, framed, maxMessageBytes } from './compression.ts';
import type { GrpcMeters } from './meters.ts';

export interface GrpcServerDeps {
  readonly settings: GrpcSettings;
  /** Undefined: the last message of the client is the answer. */
  readonly nextAnswer: (() => Buffer) | undefined;
  readonly meters: ServerMeters;
  readonly calls: GrpcMeters;
  readonly idleMs: number;
  /** Open connections. */
  readonly connections: IndexedSet<GrpcServerConnection>;
}

export const nextAnswerOf = ({ answer, isEcho }: GrpcSettings): (() => Buffer) | undefined =>
  isEcho ? undefined : cyclerOf(messagesOf(answer));

interface OpenCall {
  readonly reader: GrpcReader;
  /** Of the answers. */
  readonly compression: GrpcSettings['compression'];
  last: Uint8Array;
  count: number;
}

const headers: readonly Header[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];
const compressing: readonly Header[] = [...headers, ['grpc-encoding', 'gzip']];
const unsupported: readonly Header[] = [[':status', '415']];

const isCall = (fields: readonly Header[]): boolean =>
  fields.some(([name, value]) => name === ':method' && value === 'POST') &&
  fields.some(([name, value]) => name === 'content-type' && value.startsWith('application/grpc'));

const accepts = (fields: readonly Header[], encoding: string): boolean =>
  fields.some(
    ([name, value]) =>
      name === 'grpc-accept-encoding' && value.split(',').some((accepted) => accepted.trim() === encoding),
  );

/** One HTTP/2 connection of a gRPC server. */
export class GrpcServerConnection implements ConnectionEvents, H2Events, IndexedMember {
  setIndex = -1;
  readonly #connection: Connection;
  readonly #deps: GrpcServerDeps;
  readonly #h2: H2Connection;
  readonly #calls = new Map<number, OpenCall>();
  #usedAt = performance.now();

  constructor(connection: Connection, deps: GrpcServerDeps) {
    this.#connection = connection;
    this.#deps = deps;
    const write = (bytes: Uint8Array): void => {
      deps.meters.txBytes.add(bytes.length);
      connection.writeCopy(bytes);
    };
    this.#h2 = new H2Connection({ isServer: true, write }, this);
    this.#h2.start();
    deps.connections.add(this);
    deps.meters.concurrent.add(1);
    deps.meters.connections.add(1);
  }

  onOpen(): void {}

  onData({ bytes, start, end, now }: Chunk): void {
    this.#usedAt = now;
    this.#deps.meters.rxBytes.add(end - start);
    const error = this.#h2.feed(bytes, start, end);
    if (error === undefined) return;
    this.#deps.meters.error('protocol');
    this.#connection.close();
  }

  onHeaders(stream: number, fields: readonly Header[], isEnd: boolean): void {
    const { meters } = this.#deps;
    meters.requests.add(1);
    if (!isCall(fields)) {
      meters.status(415);
      this.#h2.respond(stream, unsupported);
      return;
    }
    meters.status(200);
    const { compression: wanted } = this.#deps.settings;
    const compression = wanted === 'gzip' && accepts(fields, 'gzip') ? 'gzip' : 'none';
    this.#h2.respond(stream, compression === 'gzip' ? compressing : headers, undefined, false);
    const reader = new GrpcReader(maxMessageBytes, decompressed);
    this.#calls.set(stream, { reader, compression, last: new Uint8Array(0), count: 0 });
    if (isEnd) this.#finish(stream);
  }

  onBody(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    const call = this.#calls.get(stream);
    if (call === undefined) return;
    try {
      call.reader.feed(bytes, start, end, (message) => this.#take(stream, call, message));
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      this.#end(stream, error.status);
      return;
    }
    if (isEnd) this.#finish(stream);
  }

  onReset(stream: number): void {
    if (this.#calls.delete(stream)) this.#deps.meters.error('reset');
  }

  onClose(code: string | undefined): void {
    const { meters, connections } = this.#deps;
    if (code !== undefined) meters.error(code);
    connections.delete(this);
    meters.concurrent.add(-1);
  }

  /** Closes the connection when it is idle for too long. */
  sweep(now: number): void {
    if (now - this.#usedAt <= this.#deps.idleMs || this.#h2.openStreams > 0) return;
    this.#h2.goaway();
    this.#connection.close();
  }

  #take(stream: number, call: OpenCall, message: Uint8Array): void {
    const { settings, calls } = this.#deps;
    calls.received.add(1);
    call.count++;
    call.last = new Uint8Array(message);
    if (settings.call === 'bidirectional' && settings.status === grpcStatus.ok) this.#answer(stream, call, 1);
  }

  /** The client has sent everything. */
  #finish(stream: number): void {
    const { call: kind, status, answers } = this.#deps.settings;
    const call = this.#calls.get(stream);
    if (call === undefined) return;
    const isWhole = call.reader.isBetween && (call.count > 0 || kind === 'clientStreaming' || kind === 'bidirectional');
    if (!isWhole) this.#end(stream, grpcStatus.internal);
    else {
      const isOk = status === grpcStatus.ok;
      if (isOk && kind !== 'bidirectional') this.#answer(stream, call, kind === 'serverStreaming' ? answers : 1);
      this.#end(stream, status);
    }
  }

  #answer(stream: number, call: OpenCall, count: number): void {
    const { nextAnswer, calls } = this.#deps;
    calls.sent.add(count);
    const answers = Array.from({ length: count }, () => nextAnswer?.() ?? call.last);
    this.#h2.send(stream, framed(answers, call.compression), false);
  }

  #end(stream: number, status: number): void {
    this.#calls.delete(stream);
    this.#deps.calls.ended(status);
    this.#h2.end(stream, [['grpc-status', String(status)]]);
  }
}
