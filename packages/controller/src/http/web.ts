import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { setSafeHeaders } from './errors.ts';

const built = fileURLToPath(new URL('../../../web/dist', import.meta.url));
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  // The component library sets inline styles; user input never becomes one.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const notBuilt = `<!doctype html><title>Rushhour</title><p>The web interface is not built: run <code>npm start</code>, or <code>npm run build:web</code>. The API is documented at <a href="/docs">/docs</a>.`;

/** Paths of the API and the probes: a missing one is an error, not a page. */
const isForPrograms = (path: string) =>
  /^\/(v1|docs|guide|openapi\.json|mcp|agent|metrics|livez|readyz|assets)(\/|$)/.test(path);

/** Whether a request without a route asks for a page of the web interface. */
export const wantsPage = ({ method, url, headers }: FastifyRequest) =>
  (method === 'GET' || method === 'HEAD') &&
  !isForPrograms(url.split('?', 1)[0] ?? '') &&
  (headers.accept ?? '').includes('text/html');

let page: string | undefined;

/** Every path of the web interface serves the same page, which routes on the client side. */
export const sendPage = (reply: FastifyReply) => {
  const file = join(built, 'index.html');
  page ??= existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return setSafeHeaders(reply)
    .code(200)
    .header('content-security-policy', policy)
    .header('cache-control', 'no-cache')
    .type('text/html; charset=utf-8')
    .send(page ?? notBuilt);
};

/** The built files of the web interface. Their names change with their content, so browsers may cache them. */
export const serveWeb = async (app: FastifyInstance) => {
  app.get('/', async (_request, reply) => sendPage(reply));
  if (!existsSync(built)) return;
  app.get('/favicon.svg', async (_request, reply) =>
    setSafeHeaders(reply)
      .type('image/svg+xml')
      .send(readFileSync(join(built, 'favicon.svg'))),
  );
  await app.register(fastifyStatic, {
    root: join(built, 'assets'),
    prefix: '/assets/',
    decorateReply: false,
    index: false,
    // The build leaves a `.br` and a `.gz` beside every file.
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
  });
};
