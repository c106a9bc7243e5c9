import { copyOf } from '../../bytes/memory.ts';
import { type Header, HpackDecoder } from '../hpack.ts';
import {
  clientPreface,
  defaultFrameBytes,
  failConnection,
  frameFlag,
  frameHeaderBytes,
  frameType,
  type H2Frame,
  h2Error,
  maxWindow,
  uint32At,
  unpadded,
} from './h2-frame.ts';

const maxBlockBytes = 65_536;
const maxBlockFrames = 64;
const priorityBytes = 5;

/** Splits a byte stream into frames. */
export class H2FrameReader {
  #prefaceLeft: number;
  /** The frame with data that has arrived in part. */
  #dataLeft = 0;
  #dataFlags = 0;
  #dataStream = 0;
  #rest = new Uint8Array(0);

  constructor(isServer: boolean) {
    this.#prefaceLeft = isServer ? clientPreface.length : 0;
  }

  feed(bytes: Uint8Array, start: number, end: number, onFrame: (frame: H2Frame) => void): void {
    let [data, at, to] = [bytes, start, end];
    if (this.#rest.length > 0) {
      data = new Uint8Array(this.#rest.length + end - start);
      data.set(this.#rest);
      data.set(bytes.subarray(start, end), this.#rest.length);
      [at, to] = [0, data.length];
      this.#rest = new Uint8Array(0);
    }
    if (this.#prefaceLeft > 0) at = this.#readPreface(data, at, to);
    if (this.#dataLeft > 0) at = this.#passData(data, at, to, onFrame);
    while (to - at >= frameHeaderBytes) {
      const length = ((data[at] as number) << 16) | ((data[at + 1] as number) << 8) | (data[at + 2] as number);
      if (length > defaultFrameBytes) failConnection(h2Error.frameSize, `a frame of ${length} bytes`);
      const payload = at + frameHeaderBytes;
      const [type, flags] = [data[at + 3] as number, data[at + 4] as number];
      const id = uint32At(data, at + 5) & maxWindow;
      if (to < payload + length) {
        if (type !== frameType.data || (flags & frameFlag.padded) !== 0) break;
        this.#dataFlags = flags;
        this.#dataStream = id;
        this.#dataLeft = length;
        at = this.#passData(data, payload, to, onFrame);
        break;
      }
      at = payload + length;
      onFrame({ type, flags, id, bytes: data, start: payload, end: at });
    }
    if (at < to) this.#rest = copyOf(data, at, to);
  }

  /** Passes on what has arrived of a frame with data; returns its end. */
  #passData(bytes: Uint8Array, start: number, limit: number, onFrame: (frame: H2Frame) => void): number {
    const end = Math.min(limit, start + this.#dataLeft);
    if (end === start) return start;
    this.#dataLeft -= end - start;
    const flags = this.#dataLeft === 0 ? this.#dataFlags : this.#dataFlags & ~frameFlag.endStream;
    onFrame({ type: frameType.data, flags, id: this.#dataStream, bytes, start, end });
    return end;
  }

  #readPreface(data: Uint8Array, start: number, end: number): number {
    let at = start;
    for (; at < end && this.#prefaceLeft > 0; at++, this.#prefaceLeft--) {
      if (data[at] !== clientPreface[clientPreface.length - this.#prefaceLeft])
        failConnection(h2Error.protocol, 'this is not the preface of a client');
    }
    return at;
  }
}

export interface HeaderBlock {
  readonly stream: number;
  readonly headers: Header[];
  readonly isEnd: boolean;
}

/** Joins the frames of a header block and decodes it. */
export class H2BlockReader {
  readonly #decoder = new HpackDecoder();
  #stream = 0;
  #flags = 0;
  #parts: Uint8Array[] = [];
  #length = 0;

  /** Only a continuation of the block may follow an incomplete one. */
  check({ type, id }: H2Frame): void {
    if (this.#stream === 0 || (type === frameType.continuation && id === this.#stream)) return;
    failConnection(h2Error.protocol, 'a header block is interrupted');
  }

  /** The block, once it is complete. */
  begin(frame: H2Frame): HeaderBlock | undefined {
    const { id, flags, bytes } = frame;
    if (id === 0) failConnection(h2Error.protocol, 'headers outside of streams');
    const [first, to] = unpadded(frame);
    let from = first;
    if ((flags & frameFlag.priority) !== 0) {
      if (to - from < priorityBytes) failConnection(h2Error.frameSize, 'a priority of less than 5 bytes');
      if ((uint32At(bytes, from) & maxWindow) === id)
        failConnection(h2Error.protocol, `stream ${id} depends on itself`);
      from += priorityBytes;
    }
    this.#flags = flags;
    if ((flags & frameFlag.endHeaders) !== 0) return this.#decode(id, bytes, from, to);
    this.#stream = id;
    this.#parts = [copyOf(bytes, from, to)];
    this.#length = to - from;
    return undefined;
  }

  continue({ flags, bytes, start, end }: H2Frame): HeaderBlock | undefined {
    if (this.#stream === 0) failConnection(h2Error.protocol, 'a continuation of nothing');
    this.#parts.push(copyOf(bytes, start, end));
    this.#length += end - start;
    if (this.#length > maxBlockBytes || this.#parts.length > maxBlockFrames)
      failConnection(h2Error.enhanceYourCalm, 'a header block is too long');
    if ((flags & frameFlag.endHeaders) === 0) return undefined;
    const block = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      block.set(part, at);
      at += part.length;
    }
    const stream = this.#stream;
    this.#stream = 0;
    this.#parts = [];
    return this.#decode(stream, block, 0, block.length);
  }

  #decode(stream: number, bytes: Uint8Array, start: number, end: number): HeaderBlock {
    try {
      const headers = this.#decoder.decode(bytes, start, end);
      return { stream, headers, isEnd: (this.#flags & frameFlag.endStream) !== 0 };
    } catch (error) {
      return failConnection(h2Error.compression, (error as Error).message);
    }
  }
}
