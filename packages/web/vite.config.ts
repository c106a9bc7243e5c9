import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const controller = 'http://127.0.0.1:8080';

/** The controller sends what lies beside a file as `.gz`, so that it never compresses anything itself. */
const compress = (): Plugin => ({
  name: 'compress',
  apply: 'build',
  writeBundle: ({ dir = '' }) => {
    const assets = join(dir, 'assets');
    for (const name of readdirSync(assets).filter((name) => /\.(js|css|svg)$/.test(name))) {
      writeFileSync(join(assets, `${name}.gz`), gzipSync(readFileSync(join(assets, name)), { level: 9 }));
    }
  },
});

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compress()],
  build: { outDir: 'dist', emptyOutDir: true, sourcemap: false, assetsInlineLimit: 0 },
  // `npm run dev:web`: the page is built as it is asked for, everything else goes to the controller.
  server: { port: 5173, proxy: Object.fromEntries(['/v1', '/docs', '/openapi.json'].map((path) => [path, controller])) },
});
