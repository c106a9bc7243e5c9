import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './run.ts';

const web = join(root, 'packages/web');
const sources = [
  join(web, 'src'),
  join(web, 'index.html'),
  join(root, 'packages/contract/src'),
  join(root, 'packages/client/src'),
];

const newestOf = (path: string): number =>
  statSync(path).isDirectory()
    ? Math.max(0, ...readdirSync(path).map((name) => newestOf(join(path, name))))
    : statSync(path).mtimeMs;

/** True when the build is newer than all of its sources. */
const isFresh = () => {
  const page = join(web, 'dist/index.html');
  return existsSync(page) && statSync(page).mtimeMs >= Math.max(...sources.map(newestOf));
};

/** Builds the web interface if it is missing or older than its sources. */
export const ensureWeb = async () => {
  if (isFresh()) return;
  console.log('Building the web interface; this is done once …');
  // Always a production build, also when NODE_ENV is `test`.
  const { code } = await run('vite', ['build', 'packages/web', '--logLevel', 'warn'], { NODE_ENV: 'production' });
  if (code !== 0) throw new Error('the web interface could not be built');
};

if (import.meta.main) await ensureWeb();
