import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const controller = 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: { outDir: 'dist', emptyOutDir: true, sourcemap: false, assetsInlineLimit: 0 },
  // `npm run dev:web`: the page is built as it is asked for, everything else goes to the controller.
  server: { port: 5173, proxy: Object.fromEntries(['/v1', '/docs', '/openapi.json'].map((path) => [path, controller])) },
});
