import { type Header, HpackEncoder } from '../hpack.ts';
import { contentLengthOf, messageProblem } from '../message-rules.ts';
import { checkPriority, readGoaway, readPing, readReset, readWindowUpdate } from './h2-control-frames.ts';
import type { H2Events, H2Options } from './h2-events.ts';
import {
  clientPreface,
  defaultFrameBytes,
  defaultWindow,
  failConnection as fail,
  frameFlag,
  frameType,
  H2ConnectionError,
  type H2Frame,
  H2StreamError,
  h2Error,
  maxWindow,
  readSettings,
  setting,
  unpadded,
} from './h2-frame.ts';
import { H2Output } from './h2-output.ts';
import { H2BlockReader, H2FrameReader, type HeaderBlock } from './h2-reader.ts';
import { H2Stream } from './h2-stream.ts';

const connectionWindow = 2 ** 24;
const empty = new Uint8Array(0);

/** One side of an HTTP/2 connection (RFC 9113): bytes in, events out. Priorities are ignored, pushes refused. */
export class H2Connection {
  readonly #events: H2Events;
  readonly #isServer: boolean;
  readonly #out: H2Output;
  readonly #reader: H2FrameReader;
  readonly #blocks = new H2BlockReader();
  readonly #encoder = new HpackEncoder();
  readonly #streams = new Map<number, H2Stream>();
  readonly #windowBytes: number;
  readonly #maxStreams: number;
  #hasSettings = false;
  #isClosed = false;
  #nextStream = 1;
  /** The highest stream of the peer. */
  #lastPeerStream = 0;
  #peerFrameBytes = defaultFrameBytes;
  #peerWindow = defaultWindow;
  #peerMaxStreams = Number.POSITIVE_INFINITY;
  #sendWindow = defaultWindow;
  #receiveWindow = connectionWindow;
  #consumed = 0;

  constructor(options: H2Options, events: H2Events) {
    this.#events = events;
    this.#isServer = options.isServer;
    this.#reader = new H2FrameReader(options.isServer);
    this.#out = new H2Output(options.write);
    this.#windowBytes = options.windowBytes ?? 2 ** 20;
    this.#maxStreams = options.maxStreams ?? 10_000;
  }

  /** Sends the first frames. */
  start(): void {
    if (!this.#isServer) this.#out.raw(clientPreface);
    this.#out.settings([
      ...(this.#isServer ? [] : ([[setting.enablePush, 0]] as const)),
      [setting.maxConcurrentStreams, this.#maxStreams],
      [setting.initialWindowSize, this.#windowBytes],
    ]);
    this.#out.numberFrame(frameType.windowUpdate, 0, connectionWindow - defaultWindow);
    this.#out.flush();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get openStreams(): number {
    return this.#streams.size;
  }

  /** Streams that the peer lets this side have open. */
  get peerMaxStreams(): number {
    return this.#peerMaxStreams;
  }

  /** Opens a stream with a request; `flush` sends it. Returns its number. */
  request(headers: readonly Header[], body?: Uint8Array, isLast = true): number {
    const id = this.#nextStream;
    this.#nextStream += 2;
    this.#streams.set(id, this.#createStream(id));
    this.respond(id, headers, body, isLast);
    return id;
  }

  /** Sends headers and a body on an open stream. `isLast`: nothing follows. */
  respond(id: number, headers: readonly Header[], body?: Uint8Array, isLast = true): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || this.#isClosed) return;
    const hasBody = body !== undefined && body.length > 0;
    const isEnd = isLast && !hasBody;
    this.#out.headers(id, this.#encoder.encode(headers), { isEnd, maxBytes: this.#peerFrameBytes });
    if (isEnd) this.#localDone(stream);
    if (hasBody) this.send(id, body, isLast);
  }

  /** Sends data; what exceeds the windows of the peer waits. */
  send(id: number, body: Uint8Array, isLast: boolean): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.isLocalDone) return;
    stream.queue(body, isLast);
    this.#drain(stream);
  }

  /** Ends a stream by headers, once its body is sent. */
  end(id: number, trailers: readonly Header[]): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.isLocalDone) return;
    stream.trailers = trailers;
    this.#drain(stream);
  }

  reset(id: number, code: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#out.numberFrame(frameType.reset, id, code);
    this.#forget(stream);
  }

  /** Takes no more streams. */
  goaway(code: number = h2Error.none): void {
    this.#out.goaway(this.#lastPeerStream, code);
    this.#out.flush();
  }

  flush(): void {
    this.#out.flush();
  }

  /** Handles received bytes. Returns the reason if the connection has to be closed, once all is sent. */
  feed(bytes: Uint8Array, start: number, end: number): H2ConnectionError | undefined {
    if (this.#isClosed) return undefined;
    try {
      this.#reader.feed(bytes, start, end, this.#frame);
    } catch (error) {
      if (!(error instanceof H2ConnectionError)) throw error;
      this.#isClosed = true;
      this.goaway(error.code);
      return error;
    }
    this.#out.flush();
    return undefined;
  }

  readonly #frame = (frame: H2Frame): void => {
    if (!this.#hasSettings && frame.type !== frameType.settings)
      fail(h2Error.protocol, 'the first frame has no settings');
    this.#blocks.check(frame);
    try {
      this.#dispatch(frame);
    } catch (error) {
      if (!(error instanceof H2StreamError)) throw error;
      this.#abort(error);
    }
  };

  #dispatch(frame: H2Frame): void {
    const { type } = frame;
    if (type === frameType.data) this.#onData(frame);
    else if (type === frameType.headers) this.#onBlock(this.#blocks.begin(frame));
    else if (type === frameType.continuation) this.#onBlock(this.#blocks.continue(frame));
    else if (type === frameType.priority) checkPriority(frame);
    else if (type === frameType.reset) this.#onReset(frame);
    else if (type === frameType.settings) this.#onSettings(frame);
    else if (type === frameType.pushPromise) fail(h2Error.protocol, 'pushes are refused');
    else if (type === frameType.ping) this.#onPing(frame);
    else if (type === frameType.goaway) this.#onGoaway(frame);
    else if (type === frameType.windowUpdate) this.#onWindowUpdate(frame);
  }

  #onData(frame: H2Frame): void {
    const { id, bytes, start, end } = frame;
    if (id === 0) fail(h2Error.protocol, 'data outside of streams');
    this.#consume(end - start);
    const stream = this.#openStream(id);
    const [from, to] = unpadded(frame);
    stream.receiveWindow -= end - start;
    if (stream.receiveWindow < 0) throw new H2StreamError(id, h2Error.flowControl, 'more data than the window');
    const isEnd = (frame.flags & frameFlag.endStream) !== 0;
    stream.received += to - from;
    this.#checkLength(stream, isEnd);
    if (isEnd) stream.isRemoteDone = true;
    else this.#giveBack(stream, end - start);
    this.#events.onBody(id, bytes, from, to, isEnd);
    if (isEnd) this.#settle(stream);
  }

  #onBlock(block: HeaderBlock | undefined): void {
    if (block === undefined) return;
    const { stream, headers, isEnd } = block;
    const known = this.#streams.get(stream);
    if (known === undefined) this.#newStream(stream, headers, isEnd);
    else if (known.isRemoteDone) throw new H2StreamError(stream, h2Error.streamClosed, 'headers after the end');
    else if (known.hasHeaders) this.#onTrailers(known, headers, isEnd);
    else this.#onMessage(known, headers, isEnd);
  }

  #newStream(id: number, headers: readonly Header[], isEnd: boolean): void {
    if (!this.#isServer || id % 2 === 0) {
      // A response may arrive after this side has given up its stream.
      if (!this.#isServer && id % 2 === 1 && id < this.#nextStream) return;
      fail(h2Error.protocol, `stream ${id} was not opened by this side`);
    }
    if (id <= this.#lastPeerStream) fail(h2Error.streamClosed, `stream ${id} is closed`);
    this.#lastPeerStream = id;
    if (this.#streams.size >= this.#maxStreams)
      throw new H2StreamError(id, h2Error.refusedStream, 'too many streams are open');
    const stream = this.#createStream(id);
    this.#streams.set(id, stream);
    this.#onMessage(stream, headers, isEnd);
  }

  #onMessage(stream: H2Stream, headers: readonly Header[], isEnd: boolean): void {
    const { id } = stream;
    const problem = messageProblem(headers, this.#isServer ? 'request' : 'response');
    if (problem !== undefined) throw new H2StreamError(id, h2Error.protocol, problem);
    const isInterim = !this.#isServer && /^1\d\d$/.test(headers[0]?.[1] ?? '');
    if (isInterim && !isEnd) return;
    stream.hasHeaders = true;
    if (this.#isServer) stream.contentLength = contentLengthOf(headers);
    this.#checkLength(stream, isEnd);
    stream.isRemoteDone = isEnd;
    this.#events.onHeaders(id, headers, isEnd);
    if (isEnd) this.#settle(stream);
  }

  #onTrailers(stream: H2Stream, headers: readonly Header[], isEnd: boolean): void {
    const problem = messageProblem(headers, 'trailers');
    if (problem !== undefined || !isEnd)
      throw new H2StreamError(stream.id, h2Error.protocol, problem ?? 'trailers without an end');
    this.#checkLength(stream, true);
    stream.isRemoteDone = true;
    this.#events.onTrailers?.(stream.id, headers);
    this.#events.onBody(stream.id, empty, 0, 0, true);
    this.#settle(stream);
  }

  #checkLength(stream: H2Stream, isEnd: boolean): void {
    const { contentLength, received, id } = stream;
    if (contentLength < 0) return;
    if (received > contentLength || (isEnd && received < contentLength))
      throw new H2StreamError(id, h2Error.protocol, 'the body has another length than declared');
  }

  #onReset(frame: H2Frame): void {
    const code = readReset(frame);
    this.#refuseIdle(frame.id);
    const stream = this.#streams.get(frame.id);
    if (stream === undefined) return;
    this.#forget(stream);
    this.#events.onReset(frame.id, code);
  }

  #onSettings(frame: H2Frame): void {
    const settings = readSettings(frame);
    if (settings === undefined) return;
    for (const [id, value] of settings) {
      if (id === setting.headerTableSize) this.#encoder.allow(value);
      else if (id === setting.maxConcurrentStreams) this.#peerMaxStreams = value;
      else if (id === setting.initialWindowSize) this.#changeWindows(value);
      else if (id === setting.maxFrameSize) this.#peerFrameBytes = value;
    }
    this.#out.frame(frameType.settings, frameFlag.ack, 0, empty);
    const isFirst = !this.#hasSettings;
    this.#hasSettings = true;
    if (isFirst) this.#events.onReady?.();
  }

  #changeWindows(value: number): void {
    const change = value - this.#peerWindow;
    this.#peerWindow = value;
    for (const stream of this.#streams.values()) {
      stream.sendWindow += change;
      if (stream.sendWindow > maxWindow) fail(h2Error.flowControl, 'a window is too large');
      if (change > 0) this.#drain(stream);
    }
  }

  #onPing(frame: H2Frame): void {
    const data = readPing(frame);
    if ((frame.flags & frameFlag.ack) === 0) this.#out.frame(frameType.ping, frameFlag.ack, 0, data);
  }

  #onGoaway(frame: H2Frame): void {
    const { last, code } = readGoaway(frame);
    if (!this.#isServer) {
      for (const stream of [...this.#streams.values()].filter(({ id }) => id > last)) {
        this.#forget(stream);
        this.#events.onReset(stream.id, h2Error.refusedStream);
      }
    }
    this.#events.onGoaway?.(last, code);
  }

  #onWindowUpdate(frame: H2Frame): void {
    const { id } = frame;
    if (id !== 0) this.#refuseIdle(id);
    const increment = readWindowUpdate(frame);
    if (id === 0) {
      this.#sendWindow += increment;
      if (this.#sendWindow > maxWindow) fail(h2Error.flowControl, 'the window is too large');
      for (const stream of this.#streams.values()) this.#drain(stream);
      return;
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.sendWindow += increment;
    if (stream.sendWindow > maxWindow) throw new H2StreamError(id, h2Error.flowControl, 'the window is too large');
    this.#drain(stream);
  }

  /** Frames of streams that were never opened are errors of the connection. */
  #refuseIdle(id: number): void {
    const isOwn = id % 2 === (this.#isServer ? 0 : 1);
    const isIdle = isOwn ? this.#isServer || id >= this.#nextStream : id > this.#lastPeerStream;
    if (isIdle) fail(h2Error.protocol, `stream ${id} is idle`);
  }

  #openStream(id: number): H2Stream {
    this.#refuseIdle(id);
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.isRemoteDone)
      throw new H2StreamError(id, h2Error.streamClosed, `stream ${id} is closed`);
    if (!stream.hasHeaders) throw new H2StreamError(id, h2Error.protocol, 'data before headers');
    return stream;
  }

  #consume(count: number): void {
    this.#receiveWindow -= count;
    if (this.#receiveWindow < 0) fail(h2Error.flowControl, 'more data than the window of the connection');
    this.#consumed += count;
    if (this.#consumed < connectionWindow / 2) return;
    this.#out.numberFrame(frameType.windowUpdate, 0, this.#consumed);
    this.#receiveWindow += this.#consumed;
    this.#consumed = 0;
  }

  #giveBack(stream: H2Stream, count: number): void {
    stream.consumed += count;
    if (stream.consumed < this.#windowBytes / 2) return;
    this.#out.numberFrame(frameType.windowUpdate, stream.id, stream.consumed);
    stream.receiveWindow += stream.consumed;
    stream.consumed = 0;
  }

  #drain(stream: H2Stream): void {
    while (stream.isWaiting) {
      const next = stream.next(Math.min(this.#sendWindow, this.#peerFrameBytes));
      if (next === undefined) return;
      this.#sendWindow -= next.part.length;
      this.#out.frame(frameType.data, next.isEnd ? frameFlag.endStream : 0, stream.id, next.part);
      if (next.isEnd) this.#localDone(stream);
    }
    if (stream.trailers === undefined || stream.isLocalDone) return;
    const block = this.#encoder.encode(stream.trailers);
    this.#out.headers(stream.id, block, { isEnd: true, maxBytes: this.#peerFrameBytes });
    this.#localDone(stream);
  }

  #localDone(stream: H2Stream): void {
    stream.isLocalDone = true;
    this.#settle(stream);
  }

  #settle(stream: H2Stream): void {
    if (stream.isDone) this.#streams.delete(stream.id);
  }

  #forget(stream: H2Stream): void {
    stream.drop();
    stream.isLocalDone = true;
    stream.isRemoteDone = true;
    this.#streams.delete(stream.id);
  }

  #abort({ stream: id, code }: H2StreamError): void {
    this.#out.numberFrame(frameType.reset, id, code);
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#forget(stream);
    this.#events.onReset(id, code);
  }

  #createStream(id: number): H2Stream {
    return new H2Stream(id, { send: this.#peerWindow, receive: this.#windowBytes });
  }
}
