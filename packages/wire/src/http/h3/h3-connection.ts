import { copyOf } from '../../bytes/memory.ts';
import { readVarint, varintLengthAt } from '../../quic/varint.ts';
import type { Header } from '../hpack.ts';
import type { H3Events, H3Options } from './h3-events.ts';
import {
  failH3,
  frameHead,
  H3ConnectionError,
  H3StreamError,
  h3Error,
  h3Frame,
  h3Setting,
  h3StreamType,
  numbersFrame,
  readH3Settings,
  readVarints,
} from './h3-frame.ts';
import { H3FrameReader } from './h3-reader.ts';
import { H3Request, type H3RequestOwner } from './h3-request.ts';
import { QpackDecoder } from './qpack-decoder.ts';
import { QpackEncoder } from './qpack-encoder.ts';

const defaultTableBytes = 4096;
const maxBlocked = 100;
const maxListBytes = 65_536;

/** A unidirectional stream of the peer. */
interface PeerStream {
  type: number;
  /** Bytes of a type that is cut. */
  readonly head: number[];
}

/** A block that waits for entries of the table. */
interface BlockedRequest {
  readonly request: H3Request;
  readonly block: Uint8Array;
}

/**
 * One side of an HTTP/3 connection (RFC 9114): bytes of streams in, events and bytes of streams out. Pushes are
 * refused. Streams have the numbers of QUIC.
 */
export class H3Connection {
  readonly #options: H3Options;
  readonly #events: H3Events;
  readonly #encoder = new QpackEncoder();
  readonly #decoder: QpackDecoder;
  readonly #requests = new Map<number, H3Request>();
  readonly #peerStreams = new Map<number, PeerStream>();
  readonly #criticalTypes = new Set<number>();
  readonly #owner: H3RequestOwner;
  readonly #control: H3FrameReader;
  #blocked: BlockedRequest[] = [];
  #streams = { control: -1, encoder: -1, decoder: -1 };
  #hasSettings = false;
  #isClosed = false;
  #lastGoaway = Number.POSITIVE_INFINITY;
  /** One more than the highest request of the peer. */
  #nextPeerRequest = 0;

  constructor(options: H3Options, events: H3Events) {
    this.#options = options;
    this.#events = events;
    this.#decoder = new QpackDecoder({ maxTableBytes: options.tableBytes ?? defaultTableBytes, maxListBytes });
    this.#owner = {
      isServer: options.isServer,
      decode: (request, bytes, start, end) => this.#decode(request, bytes, start, end),
      onHeaders: (stream, headers, isEnd) => events.onHeaders(stream, headers, isEnd),
      onBody: (stream, bytes, start, end, isEnd) => events.onBody(stream, bytes, start, end, isEnd),
      onTrailers: (stream, headers) => events.onTrailers?.(stream, headers),
    };
    this.#control = new H3FrameReader({
      onData: () => failH3(h3Error.frameUnexpected, 'data on the control stream'),
      onFrame: (type, bytes, start, end) => this.#onControl(type, bytes, start, end),
    });
  }

  /** Opens the streams of this side and sends its settings. */
  start(): void {
    const { openStream, write, tableBytes = defaultTableBytes } = this.#options;
    this.#streams = { control: openStream(), encoder: openStream(), decoder: openStream() };
    const settings = [h3Setting.tableBytes, tableBytes, h3Setting.maxFieldSectionBytes, maxListBytes];
    const blocked = tableBytes > 0 ? [h3Setting.blockedStreams, maxBlocked] : [];
    const frame = numbersFrame(h3Frame.settings, [...settings, ...blocked], h3StreamType.control);
    write(this.#streams.control, frame, false);
    write(this.#streams.encoder, Uint8Array.of(h3StreamType.encoder), false);
    write(this.#streams.decoder, Uint8Array.of(h3StreamType.decoder), false);
  }

  get openRequests(): number {
    return this.#requests.size;
  }

  /** Sends a request on a stream that was opened for it. */
  request(stream: number, headers: readonly Header[], body?: Uint8Array): void {
    this.#requests.set(stream, new H3Request(stream, this.#owner));
    this.respond(stream, headers, body);
  }

  /** Sends headers and a body. `isLast`: nothing follows. */
  respond(stream: number, headers: readonly Header[], body?: Uint8Array, isLast = true): void {
    const block = this.#encoder.encode(stream, headers);
    this.#sendInstructions();
    const hasBody = body !== undefined && body.length > 0;
    const head = frameHead(h3Frame.headers, block.length);
    const dataHead = hasBody ? frameHead(h3Frame.data, body.length) : undefined;
    const parts = [head, block, ...(dataHead === undefined ? [] : [dataHead])];
    const isSmall = hasBody && body.length <= 16_384;
    if (isSmall) parts.push(body);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const message = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      message.set(part, at);
      at += part.length;
    }
    this.#options.write(stream, message, isLast && (!hasBody || isSmall));
    if (hasBody && !isSmall) this.#options.write(stream, body, isLast);
  }

  /** Sends a part of a body after headers that were not the last. */
  data(stream: number, bytes: Uint8Array, isLast: boolean): void {
    this.#options.write(stream, frameHead(h3Frame.data, bytes.length), false);
    this.#options.write(stream, bytes, isLast);
  }

  /** Gives up a request. */
  reset(stream: number, code: number): void {
    if (!this.#requests.delete(stream)) return;
    this.#decoder.cancel(stream);
    this.#forgetBlocked(stream);
    this.#options.reset(stream, code);
    this.#sendAnswers();
  }

  /** Takes no more requests. */
  goaway(): void {
    if (this.#streams.control < 0) return;
    const last = this.#options.isServer ? this.#nextPeerRequest : 0;
    this.#options.write(this.#streams.control, numbersFrame(h3Frame.goaway, [last]), false);
  }

  /** The peer has given up a stream. */
  onReset(stream: number, code: number): H3ConnectionError | undefined {
    return this.#guard(stream, () => {
      const peer = this.#peerStreams.get(stream);
      if (peer !== undefined && this.#criticalTypes.has(peer.type))
        failH3(h3Error.closedCriticalStream, 'a critical stream was reset');
      if (!this.#requests.delete(stream)) return;
      this.#decoder.cancel(stream);
      this.#forgetBlocked(stream);
      this.#events.onReset(stream, code);
    });
  }

  /**
   * Handles received bytes, of a request only until it has ended or was reset. Returns the reason if the connection has
   * to be closed with its code.
   */
  feed(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): H3ConnectionError | undefined {
    return this.#guard(stream, () => {
      if ((stream & 2) !== 0) this.#feedPeerStream(stream, bytes, start, end, isEnd);
      else this.#feedRequest(stream, bytes, start, end, isEnd);
    });
  }

  #guard(stream: number, action: () => void): H3ConnectionError | undefined {
    if (this.#isClosed) return undefined;
    try {
      try {
        action();
      } catch (error) {
        if (!(error instanceof H3StreamError)) throw error;
        if ((stream & 2) !== 0) failH3(error.code, error.message);
        this.#abort(stream, error.code);
      }
      this.#sendAnswers();
    } catch (error) {
      if (!(error instanceof H3ConnectionError)) throw error;
      this.#isClosed = true;
      return error;
    }
    return undefined;
  }

  #abort(stream: number, code: number): void {
    this.#requests.delete(stream);
    this.#decoder.cancel(stream);
    this.#forgetBlocked(stream);
    this.#options.reset(stream, code);
    this.#events.onReset(stream, code);
  }

  #feedRequest(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    let request = this.#requests.get(stream);
    if (request === undefined) {
      if (!this.#options.isServer) return;
      this.#nextPeerRequest = Math.max(this.#nextPeerRequest, stream + 4);
      request = new H3Request(stream, this.#owner);
      this.#requests.set(stream, request);
    }
    request.feed(bytes, start, end, isEnd);
    if (request.isDone) this.#requests.delete(stream);
  }

  #feedPeerStream(stream: number, bytes: Uint8Array, start: number, end: number, isEnd: boolean): void {
    let peer = this.#peerStreams.get(stream);
    if (peer === undefined) {
      peer = { type: -1, head: [] };
      this.#peerStreams.set(stream, peer);
    }
    let at = start;
    while (peer.type < 0 && at < end) {
      peer.head.push(bytes[at++] as number);
      if (peer.head.length === varintLengthAt(peer.head[0] as number)) this.#identify(peer);
    }
    if (at < end) this.#feedTyped(peer.type, bytes, at, end);
    if (!isEnd) return;
    if (this.#criticalTypes.has(peer.type)) failH3(h3Error.closedCriticalStream, 'a critical stream has ended');
    this.#peerStreams.delete(stream);
  }

  #identify(peer: PeerStream): void {
    peer.type = readVarint(Uint8Array.from(peer.head), 0);
    const { control, push, encoder, decoder } = h3StreamType;
    if (peer.type === push) failH3(this.#options.isServer ? h3Error.streamCreation : h3Error.id, 'pushes are refused');
    if (peer.type !== control && peer.type !== encoder && peer.type !== decoder) return;
    if (this.#criticalTypes.has(peer.type)) failH3(h3Error.streamCreation, 'a critical stream is there twice');
    this.#criticalTypes.add(peer.type);
  }

  #feedTyped(type: number, bytes: Uint8Array, start: number, end: number): void {
    if (type === h3StreamType.control) this.#control.feed(bytes, start, end);
    else if (type === h3StreamType.encoder) {
      orFail(h3Error.encoderStream, () => this.#decoder.feed(bytes, start, end));
      this.#retryBlocked();
    } else if (type === h3StreamType.decoder)
      orFail(h3Error.decoderStream, () => this.#encoder.feed(bytes, start, end));
  }

  #onControl(type: number, bytes: Uint8Array, start: number, end: number): void {
    if (!this.#hasSettings && type !== h3Frame.settings)
      failH3(h3Error.missingSettings, 'the first frame has no settings');
    if (type === h3Frame.settings) this.#onSettings(bytes, start, end);
    else if (type === h3Frame.goaway) this.#onGoaway(readVarints(bytes, start, end));
    else if (type === h3Frame.maxPushId && this.#options.isServer) readVarints(bytes, start, end);
    else if (type === h3Frame.cancelPush) failH3(h3Error.id, 'there are no pushes');
    else failH3(h3Error.frameUnexpected, `a frame of type ${type} on the control stream`);
  }

  #onSettings(bytes: Uint8Array, start: number, end: number): void {
    if (this.#hasSettings) failH3(h3Error.frameUnexpected, 'settings are there twice');
    this.#hasSettings = true;
    const settings = readH3Settings(bytes, start, end);
    if (this.#options.usesTable ?? true) this.#encoder.allow(settings.get(h3Setting.tableBytes) ?? 0);
    this.#events.onReady?.();
  }

  #onGoaway(numbers: readonly number[]): void {
    const [id] = numbers;
    if (id === undefined || numbers.length > 1) failH3(h3Error.frame, 'a GOAWAY without one number');
    const stream = id as number;
    if (!this.#options.isServer && stream % 4 !== 0) failH3(h3Error.id, 'a GOAWAY names no request');
    if (stream > this.#lastGoaway) failH3(h3Error.id, 'a GOAWAY takes back another');
    this.#lastGoaway = stream;
    for (const request of this.#options.isServer ? [] : [...this.#requests.keys()]) {
      if (request < stream) continue;
      this.#requests.delete(request);
      this.#events.onReset(request, h3Error.requestRejected);
    }
    this.#events.onGoaway?.(stream);
  }

  #decode(request: H3Request, bytes: Uint8Array, start: number, end: number): Header[] | undefined {
    const headers = orFail(h3Error.decompressionFailed, () => this.#decoder.decode(request.id, bytes, start, end));
    if (headers !== undefined) return headers;
    if (this.#blocked.length >= maxBlocked) failH3(h3Error.decompressionFailed, 'too many requests wait for headers');
    this.#blocked.push({ request, block: copyOf(bytes, start, end) });
    return undefined;
  }

  #retryBlocked(): void {
    const blocked = this.#blocked;
    this.#blocked = [];
    for (const one of blocked) {
      const { request, block } = one;
      const headers = orFail(h3Error.decompressionFailed, () =>
        this.#decoder.decode(request.id, block, 0, block.length),
      );
      if (headers === undefined) this.#blocked.push(one);
      else this.#unblock(request, headers);
    }
  }

  #unblock(request: H3Request, headers: Header[]): void {
    try {
      request.onBlock(headers);
      if (request.isDone) this.#requests.delete(request.id);
    } catch (error) {
      if (!(error instanceof H3StreamError)) throw error;
      this.#abort(request.id, error.code);
    }
  }

  #forgetBlocked(stream: number): void {
    if (this.#blocked.length > 0) this.#blocked = this.#blocked.filter(({ request }) => request.id !== stream);
  }

  #sendInstructions(): void {
    const instructions = this.#encoder.takeOutput();
    if (instructions !== undefined) this.#options.write(this.#streams.encoder, instructions, false);
  }

  #sendAnswers(): void {
    const answers = this.#decoder.takeOutput();
    if (answers !== undefined && this.#streams.decoder >= 0) this.#options.write(this.#streams.decoder, answers, false);
    this.#sendInstructions();
  }
}

/** Errors of the coder end the connection with a code. */
const orFail = <T>(code: number, action: () => T): T => {
  try {
    return action();
  } catch (error) {
    if (error instanceof RangeError) return failH3(code, error.message);
    throw error;
  }
};
