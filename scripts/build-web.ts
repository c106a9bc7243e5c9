import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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

const build = async () => {
  console.log('Building the web interface; this is done once …');
  // Always a production build, also when NODE_ENV is `test`.
  const { code } = await run('vite', ['build', 'packages/web', '--logLevel', 'warn'], { NODE_ENV: 'production' });
  if (code !== 0) throw new Error('the web interface could not be built');
};

const lock = join(root, 'node_modules/.rushhour-web-build');
const pollMs = 200;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Undefined when the lock has just been released. */
const findHolder = (): number | undefined => {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch {
    return undefined;
  }
};

/** Whether this process is the one that builds; a lock of a process that has died does not count. */
const takeLock = (): boolean => {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const holder = findHolder();
    if (holder !== undefined && !isAlive(holder)) rmSync(lock, { force: true });
    return false;
  }
};

/**
 * Builds the web interface if it is missing or older than its sources. Test files do so beside each other: a second build
 * would remove the files of the first while a browser loads them.
 */
export const ensureWeb = async () => {
  while (existsSync(lock) || !isFresh()) {
    if (!takeLock()) await sleep(pollMs);
    else {
      try {
        if (!isFresh()) await build();
      } finally {
        rmSync(lock, { force: true });
      }
    }
  }
};

if (import.meta.main) await ensureWeb();
