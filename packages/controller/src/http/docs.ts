import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { api, toOpenApi } from '@rushhour/contract';
import type { FastifyInstance } from 'fastify';
import { build } from '../system/build.ts';
import { type Asset, serveAsset } from './asset.ts';
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

/** The OpenAPI document, and a page where a person can read it and try calls with their session. */
export const serveDocs = (app: FastifyInstance) => {
  for (const [path, asset] of Object.entries(assets)) app.get(path, serveAsset(asset));
  app.get('/docs', async (_request, reply) =>
    setSafeHeaders(reply).header('content-security-policy', policy).type('text/html; charset=utf-8').send(page),
  );
};
