import { ensureWeb } from './build-web.ts';

// `npm start`: builds the web interface if needed, then runs the controller in this process.
await ensureWeb();
await import('../packages/controller/src/main.ts');
