import { ensureWeb } from './build-web.ts';

// `npm start`: the web interface is built when it must be, then the controller runs in this process.
await ensureWeb();
await import('../packages/controller/src/main.ts');
