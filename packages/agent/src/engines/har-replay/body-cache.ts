import { Readable } from 'node:stream';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { HarAnswer } from '@rushhour/protocol';

const encoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes),
  'x-gzip': (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  // The best that brotli can do takes seconds for what is sent in milliseconds.
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (bytes) => zstdCompressSync(bytes),
};

/** Bytes of an answer in the form that is sent. */
export interface WireBody {
  readonly length: number;
  /** Content-Encoding; empty for none. */
  readonly encoding: string;
  stream(): Readable | Buffer;
}

const padding = Buffer.alloc(65_536);

function* pads(size: number): Generator<Buffer> {
  for (let left = size; left > 0; left -= padding.length) yield padding.subarray(0, Math.min(left, padding.length));
}

const accepts = (accepted: string, encoding: string): boolean =>
  accepted
    .toLowerCase()
    .split(',')
    .map((one) => one.trim().split(';')[0])
    .some((one) => one === encoding || one === '*');

export const plainBody = (bytes: Buffer): WireBody => ({ length: bytes.length, encoding: '', stream: () => bytes });

/** Makes bodies when they are first asked for, and keeps them. */
export class BodyCache {
  readonly #plain = new Map<HarAnswer, WireBody>();
  readonly #encoded = new Map<HarAnswer, WireBody>();

  /** `accepted`: the Accept-Encoding of the request. */
  bodyOf(answer: HarAnswer, accepted: string): WireBody {
    const { body, encoding } = answer;
    if ('size' in body) {
      return { length: body.size, encoding: '', stream: () => Readable.from(pads(body.size), { objectMode: false }) };
    }
    const plain = this.#plain.get(answer) ?? plainBody(Buffer.from(body.base64, 'base64'));
    this.#plain.set(answer, plain);
    const encode = encoders[encoding];
    if (encode === undefined || plain.length === 0 || !accepts(accepted, encoding)) return plain;
    const encoded = this.#encoded.get(answer) ?? { ...plainBody(encode(plain.stream() as Buffer)), encoding };
    this.#encoded.set(answer, encoded);
    return encoded;
  }
}
