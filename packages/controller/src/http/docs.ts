import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import fastifyStatic from '@fastify/static';
import { api, toOpenApi } from '@rushhour/contract';
import type { FastifyInstance } from 'fastify';
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
<title>Rushhour API</title>
<link rel="stylesheet" href="/docs/viewer/swagger-ui.css">
<link rel="icon" href="/docs/viewer/favicon-32x32.png">
</head>
<body>
<div id="viewer"></div>
<script src="/docs/viewer/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const start = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#viewer', deepLinking: true, docExpansion: 'none', filter: true, tryItOutEnabled: true, validatorUrl: null });
`;

/** The OpenAPI document, and a page where a person can read it and try calls with their session. */
export const serveDocs = async (app: FastifyInstance) => {
  let document: string | undefined;
  app.get('/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(toOpenApi(api, build.version));
    return setSafeHeaders(reply).type('application/json; charset=utf-8').send(document);
  });
  app.get('/docs', async (_request, reply) =>
    setSafeHeaders(reply).header('content-security-policy', policy).type('text/html; charset=utf-8').send(page),
  );
  app.get('/docs/start.js', async (_request, reply) =>
    setSafeHeaders(reply).type('text/javascript; charset=utf-8').send(start),
  );
  await app.register(fastifyStatic, {
    root: viewer,
    prefix: '/docs/viewer/',
    decorateReply: false,
    index: false,
    maxAge: '1d',
  });
};
