import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { HarHeader } from '@rushhour/protocol';

/** What came back for an entry. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly HarHeader[];
  /** As it travelled; only where the request asked for it to be kept. */
  readonly body: Buffer;
}

/** What is sent, in the form that both versions of HTTP share. */
export interface Request {
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  readonly scheme: 'http' | 'https';
  readonly headers: readonly HarHeader[];
  readonly body: Buffer | undefined;
  /** Whether anyone will look at the body of the answer. */
  readonly keepsBody: boolean;
}

const maxBytes = 256 * 1024 * 1024;

const inflate = (bytes: Buffer): Buffer => {
  // Half the world sends it without the header it should have.
  const hasHeader = ((bytes[0] ?? 0) & 0x0f) === 8;
  return hasHeader
    ? inflateSync(bytes, { maxOutputLength: maxBytes })
    : inflateRawSync(bytes, { maxOutputLength: maxBytes });
};

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes, { maxOutputLength: maxBytes }),
  'x-gzip': (bytes) => gunzipSync(bytes, { maxOutputLength: maxBytes }),
  deflate: inflate,
  br: (bytes) => brotliDecompressSync(bytes, { maxOutputLength: maxBytes }),
  zstd: (bytes) => zstdDecompressSync(bytes, { maxOutputLength: maxBytes }),
};

export const headerOf = (headers: readonly HarHeader[], name: string): string | undefined =>
  headers.find((header) => header.name.toLowerCase() === name)?.value;

/** The content of an answer; undefined when it cannot be decoded. */
export const contentOf = ({ headers, body }: Answer): Buffer | undefined => {
  const encodings = (headerOf(headers, 'content-encoding') ?? '').toLowerCase().split(',');
  let content = body;
  for (const encoding of encodings.map((one) => one.trim()).toReversed()) {
    if (encoding === '' || encoding === 'identity' || content.length === 0) continue;
    try {
      content = (decoders[encoding] as (typeof decoders)[string])(content);
    } catch {
      return undefined;
    }
  }
  return content;
};
