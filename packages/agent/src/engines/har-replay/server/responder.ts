import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type HarAnswer, type HarReplayServerConfig, harEntryHeader } from '@rushhour/protocol';
import type { Counter, Samples } from '../../../engine.ts';
import { AnswerIndex } from './answer-index.ts';

const encoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes),
  'x-gzip': (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  // The highest brotli quality takes seconds per body.
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (bytes) => zstdCompressSync(bytes),
};

/** A body as sent on the wire. */
interface WireBody {
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

const plainBody = (bytes: Buffer): WireBody => ({ length: bytes.length, encoding: '', stream: () => bytes });

/** Encodes bodies on first use and caches them. */
class BodyCache {
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

/** A request, independent of the HTTP version. */
export interface Requested {
  readonly method: string;
  readonly url: string;
  /** Without a port, in lower case. */
  readonly host: string;
  /** Number of the recorded entry, of requests that are alike. */
  readonly mark: number | undefined;
  readonly acceptEncoding: string;
  readonly body: AsyncIterable<Buffer> | Iterable<Buffer>;
}

interface RawRequest extends Pick<Requested, 'body'> {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly fieldOf: (name: string) => string | undefined;
}

export const requestedOf = ({ method = 'GET', url = '/', fieldOf, body }: RawRequest): Requested => {
  const mark = fieldOf(harEntryHeader);
  const authority = fieldOf(':authority') ?? fieldOf('host') ?? '';
  return {
    method,
    url,
    host: authority.replace(/:\d+$/, '').toLowerCase(),
    mark: mark === undefined ? undefined : Number(mark),
    acceptEncoding: fieldOf('accept-encoding') ?? '',
    body,
  };
};

/** An answer as it is sent. */
export interface Outgoing {
  readonly status: number;
  /** Each name once. */
  readonly headers: readonly { readonly name: string; readonly values: string[] }[];
  readonly body: Readable | Buffer | undefined;
}

const maxEchoBytes = 64 * 1024 * 1024;

interface Received {
  readonly body: Buffer;
  readonly sha256: string;
}

/** Reads a body; it is kept only in mode echo. */
const receive = async (content: Requested['body'], isKept: boolean): Promise<Received> => {
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    hash.update(chunk);
    if (isKept && size <= maxEchoBytes) kept.push(chunk);
  }
  return { body: Buffer.concat(kept), sha256: size === 0 ? '' : hash.digest('hex') };
};

/** Finds recorded answers. */
export class Responder {
  readonly #index: AnswerIndex;
  readonly #bodies = new BodyCache();
  readonly #mode: HarReplayServerConfig['mode'];
  readonly #served: Counter;
  readonly #similar: Counter;
  readonly #missed: Counter;

  constructor(answers: readonly HarAnswer[], mode: HarReplayServerConfig['mode'], samples: Samples) {
    this.#index = new AnswerIndex(answers);
    this.#mode = mode;
    this.#served = samples.counter('har-replay.served');
    this.#similar = samples.counter('har-replay.similar');
    this.#missed = samples.counter('har-replay.missed');
  }

  /** Resolves when it is time to answer. */
  async answer(request: Requested): Promise<Outgoing> {
    const { body: asked, sha256 } = await receive(request.body, this.#mode === 'echo');
    const { method, host, url, mark, acceptEncoding } = request;
    const [path = '/', ...query] = url.split('?');
    const found = this.#index.find({ method, host, path, query: query.join('?'), bodySha256: sha256, mark });
    this.#served.add(1);
    if (found === undefined) {
      this.#missed.add(1);
      return outgoing({ status: 404, headers: [] }, plainBody(noAnswer), false);
    }
    if (!found.isExact) this.#similar.add(1);
    const { answer } = found;
    if (answer.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
    const body = this.#mode === 'echo' ? plainBody(asked) : this.#bodies.bodyOf(answer, acceptEncoding);
    return outgoing(answer, body, method === 'HEAD');
  }
}

const noAnswer = Buffer.from('no recorded answer matches this request\n');

const outgoing = (
  { status, headers }: Pick<HarAnswer, 'status' | 'headers'>,
  body: WireBody,
  isHead: boolean,
): Outgoing => {
  const byName = new Map<string, { name: string; values: string[] }>();
  const put = (name: string, value: string, isOnly: boolean) => {
    const key = name.toLowerCase();
    const known = byName.get(key);
    if (known === undefined || isOnly) byName.set(key, { name, values: [value] });
    else known.values.push(value);
  };
  for (const { name, value } of headers) put(name, value, false);
  const hasNoBody = status === 204 || status === 304;
  if (!hasNoBody) put('Content-Length', String(body.length), true);
  if (body.encoding !== '') put('Content-Encoding', body.encoding, true);
  return { status, headers: [...byName.values()], body: hasNoBody || isHead ? undefined : body.stream() };
};
