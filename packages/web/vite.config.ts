import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { publish } from './publish.ts';
import { thinContract } from './thin-contract.ts';

const controller = 'http://127.0.0.1:8080';
const staging = join(import.meta.dirname, `.cache/build-${process.pid}`);

/** Writes a `.br` and a `.gz` beside each asset, which the controller sends instead of compressing on request. */
const compress = (): Plugin => ({
  name: 'compress',
  apply: 'build',
  writeBundle: ({ dir = '' }) => {
    const assets = join(dir, 'assets');
    for (const name of readdirSync(assets).filter((name) => /\.(js|css|svg)$/.test(name))) {
      const content = readFileSync(join(assets, name));
      writeFileSync(join(assets, `${name}.gz`), gzipSync(content, { level: 9 }));
      writeFileSync(join(assets, `${name}.br`), brotliCompressSync(content));
    }
  },
});

export default defineConfig({
  root: import.meta.dirname,
  plugins: [thinContract(), react(), compress(), publish(staging, join(import.meta.dirname, 'dist'))],
  build: { outDir: staging, emptyOutDir: true, sourcemap: false, assetsInlineLimit: 0 },
  // `npm run dev:web`: Vite serves the pages and forwards API requests to the controller.
  server: { port: 5173, proxy: Object.fromEntries(['/v1', '/docs', '/openapi.json'].map((path) => [path, controller])) },
});
