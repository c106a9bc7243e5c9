import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { Readable } from 'node:stream';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type HarAnswer, type HarReplayServerConfig, harEntryHeader } from '@rushhour/protocol';
import type { Counter, Samples } from '../../engine.ts';
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

export type Requested = IncomingMessage | Http2ServerRequest;
export type Reply = (ServerResponse | Http2ServerResponse) & NodeJS.WritableStream;

const maxEchoBytes = 64 * 1024 * 1024;

interface Received {
  readonly body: Buffer;
  readonly sha256: string;
}

/** Reads a body; it is kept only in mode echo. */
const receive = async (request: Requested, isKept: boolean): Promise<Received> => {
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    hash.update(chunk);
    if (isKept && size <= maxEchoBytes) kept.push(chunk);
  }
  return { body: Buffer.concat(kept), sha256: size === 0 ? '' : hash.digest('hex') };
};

const hostOf = (request: Requested): string => {
  const authority = request.headers[':authority'] ?? request.headers.host ?? '';
  return String(authority).replace(/:\d+$/, '').toLowerCase();
};

/** Sends recorded answers. */
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

  async answer(request: Requested, reply: Reply): Promise<void> {
    const { body, sha256 } = await receive(request, this.#mode === 'echo');
    const [path = '/', ...query] = (request.url ?? '/').split('?');
    const mark = request.headers[harEntryHeader];
    const found = this.#index.find({
      method: request.method ?? 'GET',
      host: hostOf(request),
      path,
      query: query.join('?'),
      bodySha256: sha256,
      mark: mark === undefined ? undefined : Number(mark),
    });
    this.#served.add(1);
    if (found === undefined) {
      this.#missed.add(1);
      send(reply, {
        status: 404,
        headers: [],
        body: plainBody(Buffer.from('no recorded answer matches this request\n')),
      });
      return;
    }
    if (!found.isExact) this.#similar.add(1);
    await this.#sendLater(request, reply, { answer: found.answer, asked: body });
  }

  async #sendLater(request: Requested, reply: Reply, { answer, asked }: { answer: HarAnswer; asked: Buffer }) {
    const { status, headers, delayMs } = answer;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (reply.destroyed) return;
    const accepted = String(request.headers['accept-encoding'] ?? '');
    const body = this.#mode === 'echo' ? plainBody(asked) : this.#bodies.bodyOf(answer, accepted);
    send(reply, { status, headers, body, isHead: request.method === 'HEAD' });
  }
}

interface Outgoing extends Pick<HarAnswer, 'status' | 'headers'> {
  readonly body: WireBody;
  readonly isHead?: boolean;
}

const send = (reply: Reply, { status, headers, body, isHead = false }: Outgoing): void => {
  const values = new Map<string, { name: string; all: string[] }>();
  for (const { name, value } of headers) {
    const known = values.get(name.toLowerCase()) ?? { name, all: [] };
    values.set(name.toLowerCase(), known);
    known.all.push(value);
  }
  reply.statusCode = status;
  reply.sendDate = false;
  for (const { name, all } of values.values()) reply.setHeader(name, all.length === 1 ? (all[0] as string) : all);
  const hasNoBody = status === 204 || status === 304;
  if (!hasNoBody) reply.setHeader('Content-Length', body.length);
  if (body.encoding !== '') reply.setHeader('Content-Encoding', body.encoding);
  if (hasNoBody || isHead) {
    reply.end();
    return;
  }
  const content = body.stream();
  if (Buffer.isBuffer(content)) reply.end(content);
  else content.pipe(reply);
};
