import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { api, toOpenApi } from '@rushhour/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { build } from '../system/build.ts';
import { setSafeHeaders } from './errors.ts';

const viewer = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const policy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'";

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Rushhour API</title>
<link rel="stylesheet" href="/docs/viewer/swagger-ui.css">
<link rel="icon" href="/docs/viewer/favicon-32x32.png">
</head>
<body>
<div id="viewer"></div>
<script src="/docs/start.js"></script>
<script src="/docs/viewer/swagger-ui-bundle.js"></script>
<script src="/docs/show.js"></script>
</body>
</html>
`;

/** Before anything is painted: the colours of the system, and changes of them. */
const start = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
follow();
dark.addEventListener('change', follow);
`;

const show = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#viewer', deepLinking: true, docExpansion: 'none', filter: true, tryItOutEnabled: true, validatorUrl: null });
`;

interface Asset {
  readonly type: string;
  read(): string | Promise<Buffer>;
}

const viewerFile = (name: string, type: string): [string, Asset] => [
  `/docs/viewer/${name}`,
  { type, read: () => readFile(join(viewer, name)) },
];

const javascript = 'text/javascript; charset=utf-8';
const assets: Record<string, Asset> = {
  '/openapi.json': {
    type: 'application/json; charset=utf-8',
    read: () => JSON.stringify(toOpenApi(api, build.version)),
  },
  '/docs/start.js': { type: javascript, read: () => start },
  '/docs/show.js': { type: javascript, read: () => show },
  ...Object.fromEntries([
    viewerFile('swagger-ui.css', 'text/css; charset=utf-8'),
    viewerFile('swagger-ui-bundle.js', javascript),
    viewerFile('favicon-32x32.png', 'image/png'),
  ]),
};

const compressed = async ({ read }: Asset) => {
  const plain = Buffer.from(await read());
  return { plain, small: await promisify(gzip)(plain), etag: `"${hash('sha256', plain, 'hex').slice(0, 32)}"` };
};

const send = async (
  asset: Asset,
  load: ReturnType<typeof compressed>,
  request: FastifyRequest,
  reply: FastifyReply,
) => {
  const { plain, small, etag } = await load;
  // Browsers ask each time and get 304 until the build is another one.
  setSafeHeaders(reply).header('cache-control', 'no-cache').header('etag', etag).header('vary', 'accept-encoding');
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const isGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  if (isGzip) reply.header('content-encoding', 'gzip');
  return reply.type(asset.type).send(isGzip ? small : plain);
};

/** The OpenAPI document, and a page where a person can read it and try calls with their session. */
export const serveDocs = (app: FastifyInstance) => {
  for (const [path, asset] of Object.entries(assets)) {
    let load: ReturnType<typeof compressed> | undefined;
    app.get(path, (request, reply) => {
      load ??= compressed(asset);
      return send(asset, load, request, reply);
    });
  }
  app.get('/docs', async (_request, reply) =>
    setSafeHeaders(reply).header('content-security-policy', policy).type('text/html; charset=utf-8').send(page),
  );
};
