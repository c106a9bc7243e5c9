import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

const manifest = new URL('../../package.json', import.meta.url);

/** Facts of this build. The commit is known when it runs from a checkout. */
export const build = (() => {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return { name: 'Rushhour', version, licence: 'Apache-2.0', builtAt: statSync(manifest).mtime.toISOString() };
})();

let commit: string | undefined;
export const commitOf = () => {
  commit ??= readCommit();
  return commit;
};

const readCommit = () => {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: new URL('../..', import.meta.url),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .toString()
      .trim();
  } catch {
    return 'unknown';
  }
};
