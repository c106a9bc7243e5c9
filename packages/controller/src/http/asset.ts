import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesEtag } from '../etag.ts';
import { setSafeHeaders } from './errors.ts';

/** A text or picture of the build that never changes while the controller runs. */
export interface Asset {
  readonly type: string;
  read(): string | Promise<string | Buffer>;
}

const compressed = async ({ read }: Asset) => {
  const plain = Buffer.from(await read());
  return { plain, small: await promisify(gzip)(plain), etag: `"${hash('sha256', plain, 'hex').slice(0, 32)}"` };
};

/** Answers with the asset: made at the first request, compressed for those who can read it, 304 while it is current. */
export const serveAsset = (asset: Asset) => {
  let load: ReturnType<typeof compressed> | undefined;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    load ??= compressed(asset);
    const { plain, small, etag } = await load;
    // Browsers ask each time and get 304 until the build is another one.
    setSafeHeaders(reply).header('cache-control', 'no-cache').header('etag', etag).header('vary', 'accept-encoding');
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
    const isGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    if (isGzip) reply.header('content-encoding', 'gzip');
    return reply.type(asset.type).send(isGzip ? small : plain);
  };
};
